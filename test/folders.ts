// Which layer may import which others; test/house.test.ts holds it.

/** The layers, from the lowest, each with the others that it may import; `src` is the top of src. */
export const layers: Readonly<Record<string, string>> = {
  system: '',
  src: 'system',
  activity: 'system',
  config: 'system',
  record: 'src',
  remote: 'system src activity record',
  cache: 'system src activity record remote',
  fleet: 'system src config remote cache',
  edit: 'system src record remote',
  drive: 'system src record remote cache edit',
  terminal: 'system src config',
  metrics: 'system src activity drive',
  mount: 'system src activity remote drive',
  kernel: 'system src activity remote drive mount',
  service: '',
  app: 'system src activity config remote cache fleet edit drive terminal metrics',
  cli: 'system src activity config remote fleet edit drive terminal metrics mount kernel service app',
  bench: 'system src activity config remote cache fleet drive mount kernel service app test',
}
