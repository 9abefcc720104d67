// Promises of systemd/: both units and a line of /etc/fstab on a machine of the test's own that systemd has started.
import t from 'tap'
import { exitCodes } from '../../../src/terminal/exit.js'
import { type BootedMachine, bootedMachine } from '../../testbed/machine/booted.js'
import { run } from '../../testbed/programs.js'
import { testService } from '../../testbed/service.js'

const service = await testService(t)
const anna = { name: 'anna', id: 23_456 }
const profiles = ['group', 'killed', 'refused']
  .map(name => `[profiles.${name}]\nallow-other = true\n${name === 'refused' ? 'user = "guest"\n' : ''}`)
  .join('\n')
const config = `url = "${service.url}"\nuser = "demo"\n`
const machine: BootedMachine = await bootedMachine(t, {
  users: [anna],
  files: {
    '/etc/calcfs/config.toml': `${config}\n${profiles}`,
    '/etc/credstore/calcfs-password': 'demo\n',
    '/etc/calcfs/password': 'demo\n',
    '/etc/fstab': `${service.url} /srv/auto calcfs ro,allow_other,noauto,nofail,x-systemd.automount,username=demo,password_file=/etc/calcfs/password 0 0\n`,
    '/home/anna/.config/calcfs/config.toml': `${config}password = "demo"\n\n[profiles.mine]\n`,
  },
})

const { shown } = machine
const asStranger = 'setpriv --reuid=65534 --regid=65534 --clear-groups'

t.test(
  'SYSTEMD-1 the daemon of the system unit has no right at all, and every user sees its drive',
  async t => {
    const unit = 'calcfs-system@group'
    const seen = await shown(`
    systemctl start ${unit}
    systemctl is-active ${unit}
    ${asStranger} ls /srv/calcfs/group/projects
    grep -E '^(CapEff|CapBnd|NoNewPrivs|Seccomp):' /proc/$(systemctl show -P MainPID ${unit})/status | tr -s '\\t' ' '`)
    t.same(seen, [
      'active',
      'Water splitting',
      'CapEff: 0000000000000000',
      'CapBnd: 0000000000000000',
      'NoNewPrivs: 1',
      'Seccomp: 2',
    ])
    const status = (await shown('calcfs status --json /srv/calcfs/group')).join('\n')
    t.match(JSON.parse(status), [{ user: 'demo', access: 'edit', kernel: 'session' }])
    await t.test('what root saves there reaches the service', async t => {
      const file = '/srv/calcfs/group/reports/42.json'
      await shown(`sed -i '0,/Supporting information/s//SI of the paper/' ${file} || calcfs why ${file}`)
      t.match(await service.elsewhere('GET', '/report?id=42'), 'SI of the paper')
    })
    await t.test('END-1 its stop unmounts, and is no failure', async t => {
      const left = await shown(
        `systemctl stop ${unit}; systemctl show -P Result ${unit}; grep -c ' /srv/calcfs/group ' /proc/self/mountinfo || true`,
      )
      t.same(left, ['success', '0'])
    })
  },
)

t.test('SYSTEMD-2 a daemon that is killed is started again, on a mount point that is free', async t => {
  const unit = 'calcfs-system@killed'
  const seen = await shown(`
    mkdir -p /run/systemd/system/${unit}.service.d
    printf '[Service]\\nRestartSec=100ms\\n' > /run/systemd/system/${unit}.service.d/soon.conf
    systemctl daemon-reload
    systemctl start ${unit}
    systemctl kill --kill-whom=main --signal=KILL ${unit}
    for i in $(seq 300); do [ "$(systemctl show -P NRestarts,ActiveState ${unit} | tr '\\n' ' ')" = '1 active ' ] && break; sleep 0.1; done
    systemctl show -P NRestarts ${unit}; systemctl is-active ${unit}
    ls /srv/calcfs/killed/projects
    grep -c ' /srv/calcfs/killed ' /proc/self/mountinfo
    systemctl stop ${unit}`)
  t.same(seen, ['1', 'active', 'Water splitting', '1'])
})

t.test('SYSTEMD-2 a refused log-in is not tried again', async t => {
  const unit = 'calcfs-system@refused'
  const { code } = await machine.inside(`systemctl start ${unit}`)
  t.not(code, 0)
  const seen = await shown(
    `sleep 1; systemctl show -P NRestarts,ExecMainStatus,ActiveState ${unit}; journalctl -u ${unit} -o cat`,
  )
  t.same(seen.slice(0, 3).sort(), ['0', String(exitCodes.signIn), 'failed'].sort())
  t.match(seen.join('\n'), /calcfs: .*(refused the log-in|does not let) /)
})

t.test('SYSTEMD-1 the unit of a user mounts below the home directory', async t => {
  const as = `setpriv --reuid=${anna.id} --regid=${anna.id} --init-groups env HOME=/home/anna XDG_RUNTIME_DIR=/run/user/${anna.id}`
  const seen = await shown(`
    systemctl start user@${anna.id}.service
    ${as} systemctl --user start calcfs@mine
    ${as} systemctl --user is-active calcfs@mine
    ${as} ls /home/anna/calcfs/mine/projects
    ls /home/anna/calcfs/mine 2>&1 | grep -o 'Permission denied' || echo 'root looks in'
    ${as} systemctl --user stop calcfs@mine
    ${as} systemctl --user show -P Result calcfs@mine
    grep -c /home/anna/calcfs /proc/self/mountinfo || true
    systemctl stop user@${anna.id}.service`)
  t.same(seen, ['active', 'Water splitting', 'Permission denied', 'success', '0'])
})

t.test('MOUNT-4 a line of /etc/fstab with x-systemd.automount is mounted at the first look', async t => {
  const seen = await shown(`
    systemctl start srv-auto.automount
    systemctl is-active srv-auto.mount || true
    ls /srv/auto/projects
    systemctl is-active srv-auto.mount || journalctl -o cat -n 12 -u srv-auto.mount -u srv-auto.automount
    calcfs status --json /srv/auto | grep -o '"kernel": "session"'
    ${asStranger} ls /srv/auto/reports >/dev/null && echo 'others look in'
    systemctl stop srv-auto.automount
    for i in $(seq 100); do pgrep -f 'mount .*/srv/auto$' >/dev/null || break; sleep 0.1; done
    pgrep -f 'mount .*/srv/auto$' >/dev/null || echo 'its daemon has ended'`)
  t.same(seen, [
    'inactive',
    'Water splitting',
    'active',
    '"kernel": "session"',
    'others look in',
    'its daemon has ended',
  ])
})

t.test('SYSTEMD-1 systemd finds little to expose', async t => {
  const unit = new URL('../../../../systemd/calcfs-system@.service', import.meta.url).pathname
  const { stdout } = await run('systemd-analyze', ['security', '--offline=true', '--no-pager', unit])
  const level = Number(/Overall exposure level for .*: ([\d.]+)/.exec(stdout)?.[1])
  t.ok(level <= 3, `exposure ${level}`)
})
