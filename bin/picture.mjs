// docs/picture.png: Thunar on a drive of the sample data, and Jmol with a geometry of it, on a virtual screen.
import { spawn, spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const picture = join(root, 'docs/picture.png')
const [width, height] = [1120, 580]
const split = 660
const folder = 'projects/Farbstoffe – π-Systeme/indigo'
/** Its own starter takes paths apart at blanks. */
const jmol = '/usr/share/java/Jmol.jar'
const geometry = `${folder}/indigo.xyz`

/** Programs and the Debian packages that bring them. */
const needs = {
  Xvfb: 'xvfb',
  openbox: 'openbox',
  thunar: 'thunar',
  xdotool: 'xdotool',
  xsetroot: 'x11-xserver-utils',
  import: 'imagemagick',
  pngquant: 'pngquant',
  'dbus-run-session': 'dbus-daemon',
  [jmol]: 'jmol',
  '/usr/share/icons/Adwaita/index.theme': 'adwaita-icon-theme',
  '/usr/share/themes/Adwaita/index.theme': 'gnome-themes-extra',
}
const isThere = name => (name.startsWith('/') ? fs.existsSync(name) : spawnSync('which', [name]).status === 0)
const missing = Object.entries(needs).filter(([name]) => !isThere(name))
if (missing.length > 0) {
  console.error(`Not here: apt install ${missing.map(([, name]) => name).join(' ')}`)
  process.exit(2)
}

const scratch = fs.mkdtempSync(join(tmpdir(), 'calcfs-picture-'))
const home = join(scratch, 'anna')
const drive = join(home, 'lab')
const started = []
const environment = {
  PATH: process.env.PATH,
  HOME: home,
  LANG: 'C.UTF-8',
  CALCFS_PASSWORD: 'demo',
  GTK_THEME: 'Adwaita',
  _JAVA_OPTIONS: `-Duser.home=${home} -Dawt.useSystemAAFontSettings=on`,
}
const calcfs = join(root, 'bin/calcfs')
const run = (name, ...args) => {
  const { status, stdout, stderr } = spawnSync(name, args, { env: environment, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${name} ${args[0]}: ${stderr}`)
  return stdout.trim()
}
const start = (name, ...args) => {
  const stdio = ['ignore', 'pipe', 'ignore', 'pipe']
  const child = spawn(name, args, { env: environment, stdio, detached: true })
  started.push(child)
  return child
}
const said = (stream, form) =>
  new Promise((resolve, reject) => {
    let text = ''
    stream.on('data', piece => {
      text += piece
      const found = form.exec(text)?.[1]
      if (found !== undefined) resolve(found)
    })
    stream.on('end', () => reject(new Error(`it ended, and said: ${text}`)))
  })

/** The window with this title, once it is there. */
async function windowOf(title) {
  for (const until = Date.now() + 120_000; Date.now() < until; await wait(500)) {
    const { stdout } = spawnSync('xdotool', ['search', '--onlyvisible', '--name', title], {
      env: environment,
      encoding: 'utf8',
    })
    const [id] = stdout.split('\n')
    if (id) return id
  }
  throw new Error(`no window is called ${title}`)
}

async function place(title, x, y, wide, high) {
  const id = await windowOf(title)
  run('xdotool', 'windowsize', id, wide, high, 'windowmove', id, x, y)
  return id
}

try {
  fs.mkdirSync(join(home, '.config/gtk-3.0'), { recursive: true })
  fs.writeFileSync(
    join(home, '.config/gtk-3.0/settings.ini'),
    '[Settings]\ngtk-icon-theme-name=Adwaita\ngtk-theme-name=Adwaita\ngtk-font-name=DejaVu Sans 9\n',
  )
  fs.mkdirSync(drive)
  const service = start(
    process.execPath,
    calcfs,
    'serve',
    '--port',
    '0',
    '--data',
    join(home, 'data'),
    '--sample',
  )
  const url = await said(service.stdout, /listening on (\S+)/)
  run(process.execPath, calcfs, 'mount', url, drive, '--user', 'demo', '--daemon')
  const server = start(
    'Xvfb',
    '-displayfd',
    '3',
    '-screen',
    '0',
    `${width}x${height}x24`,
    '-nolisten',
    'tcp',
    '-noreset',
  )
  environment.DISPLAY = `:${await said(server.stdio[3], /(\d+)\n/)}`
  start('openbox')
  run('xsetroot', '-solid', '#c9d1d9')
  start('dbus-run-session', '--', 'thunar', join(drive, folder))
  const files = await place('indigo', 8, 8, split - 16, height - 40)
  // The tree in the side pane, and the file that Jmol shows.
  run('xdotool', 'windowfocus', '--sync', files, 'key', 'ctrl+e')
  await wait(10_000)
  run('xdotool', 'windowfocus', '--sync', files, 'type', 'indigo.x')
  const view =
    'background white; select all; wireframe 0.15; spacefill 23%; rotate z 62; rotate x -40; zoom 105'
  start('java', '-Xmx512m', '-jar', jmol, '-o', '-g', '400x400', '-J', view, join(drive, geometry))
  await place('indigo.xyz', split, 8, width - split - 8, height - 40)
  await wait(8_000)
  const taken = join(home, 'picture.png')
  run('import', '-window', 'root', taken)
  run('pngquant', '--force', '--skip-if-larger', '--output', picture, '128', taken)
  console.log(`${picture}: ${fs.statSync(picture).size} bytes`)
} finally {
  // Whole groups: what dbus-run-session has started, too.
  const end = ({ pid }) => spawnSync('kill', ['--', `-${pid}`])
  for (const child of started.slice(1).reverse()) end(child)
  spawnSync(process.execPath, [calcfs, 'unmount', '--force', drive], { env: environment })
  if (started[0] !== undefined) end(started[0])
  await wait(1_000)
  fs.rmSync(scratch, { recursive: true, force: true })
}
process.exit()
