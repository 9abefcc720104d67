// Layout: the fixed names in the drive, and the path shapes made of them.

/** As in the contract of the drive's layout; everything else in a directory is called like a thing of the service. */
export const fixedNames = {
  // in the root
  projects: 'projects',
  users: 'db',
  reports: 'reports',
  numbers: 'by-id',
  own: '.calcfs',
  // in .calcfs/
  status: 'status.json',
  user: 'user.json',
  reportTypes: 'report-types.json',
  readme: 'README.txt',
  drafts: 'drafts',
  // in a project
  project: '.project.json',
  projectIndex: '.index.tsv',
  shares: '.shares',
  // in a calculation
  calculation: '.calculation.json',
  // in reports/, and in the folder of a report
  reportIndex: 'INDEX.tsv',
  reportNames: 'by-name',
  order: 'order.txt',
} as const

/** The file of a report or a share. */
export const recordFile = (id: string): string => `${id}.json`

export const idOfRecordFile = (name: string): string | undefined => /^(\d+)\.json$/.exec(name)?.[1]

/** The directory a path lies in; the root lies in itself. */
export const parentOf = (path: string): string => path.slice(0, path.lastIndexOf('/'))

export const lastNameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)
