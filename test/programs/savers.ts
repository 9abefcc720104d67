// Programs that save a record, each as a script: `pause read` stands before a reading, `pause save` before a save.
import { python } from '../testbed/programs.js'

/**
 * buffer: reads once, and saves what it holds again and again. rereads: reads before each save. at once: a save reads itself.
 * Each title of `$titles` is one save; `$file` is the record, `$held` a name on the local disk.
 */
export type Habit = 'buffer' | 'rereads' | 'at once'

export interface Kind {
  readonly name: string
  readonly habit: Habit
  readonly script: string
  /** What the program is set to leave next to the file; `%` stands for the file's name. */
  readonly keeps: readonly string[]
}

const retitle = `s/"title": "[^"]*"/"title": "'$title'"/`

/** For each title: the record is read and edited into \`$held\`, and then put back. */
const rereading = (put: string, edit = `sed '${retitle}' "$file" > "$held"`): string =>
  `for title in $titles; do pause read; ${edit}; pause save; ${put}; done`

/** One copy is edited on and on, and each time put back. */
const copied = (put: string): string =>
  `cat "$file" > "$held.own"
   for title in $titles; do sed -i '${retitle}' "$held.own"; cp "$held.own" "$held"; pause save; ${put}; done`

const atOnce = (edit: string): string => `for title in $titles; do export title; pause save; ${edit}; done`

const vim = (settings: string): string =>
  `for title in $titles; do
     commands+=(-c '%s/"title": "[^"]*"/"title": "'$title'"/ | call system("pause save") | try | w! | catch | call writefile([v:exception], $held) | endtry')
   done
   yes | vim -es -u NONE -c 'set backupskip= ${settings}' "\${commands[@]}" -c 'q!' "$file"; cat "$held" 2>&1`

const emacs = (settings: string): string =>
  `emacs -Q --batch --eval '(progn
     (setq comp-enable-subr-trampolines nil native-comp-enable-subr-trampolines nil)
     (load "userlock" nil t)
     (fset (quote yes-or-no-p) (lambda (&rest _) t))
     (fset (quote ask-user-about-supersession-threat) (function ignore))
     (setq backup-enable-predicate (lambda (_) t) ${settings})
     (find-file (getenv "file"))
     (dolist (title (split-string (getenv "titles")))
       (goto-char (point-min))
       (re-search-forward "\\"title\\": \\"[^\\"]*\\"")
       (replace-match (format "\\"title\\": \\"%s\\"" title) t t)
       (call-process "pause" nil nil nil "save")
       (condition-case failed (save-buffer) (error (princ failed)))))'`

/** On a terminal of its own; the replacement is made first, then it waits to be saved. */
const nano = (options: string): string => `${python} -c '
import os, pty, re, select, subprocess
child, screen = pty.fork()
if child == 0:
    os.environ.update(TERM="xterm", LINES="50", COLUMNS="120")
    os.execvp("nano", ["nano", "-I", ${options}os.environ["file"]])
def until(form):
    seen = b""
    while not re.search(form, seen):
        if not select.select([screen], [], [], 20)[0]: raise SystemExit(repr(seen))
        seen += os.read(screen, 65536)
    return seen
until(b"title")
old = "Before00"
for title in os.environ["titles"].split():
    os.write(screen, b"\\x1c"); until(b"Search")
    os.write(screen, old.encode() + b"\\r"); until(b"Replace with")
    os.write(screen, title.encode() + b"\\r"); until(b"instance")
    os.write(screen, b"a"); until(b"Replaced")
    subprocess.run(["pause", "save"], pass_fds=(3, 4))
    os.write(screen, b"\\x0f"); until(b"Write")
    os.write(screen, b"\\r")
    if re.search(b"modified", until(b"Wrote|Error|modified|rror ")): os.write(screen, b"y"); until(b"Wrote|rror ")
    old = title
os.write(screen, b"\\x18")
os.close(screen)
'`

const inPython = (body: string): string => `${python} -c '
import fileinput, json, mmap, os, re, subprocess, tempfile, threading
file = os.environ["file"]
titles = os.environ["titles"].split()
def pause(at):
    os.write(3, (at + "\\n").encode())
    os.read(4, 1)
def read():
    with open(file) as record: return record.read()
def put(text, path=file):
    with open(path, "w") as out: out.write(text)
def edited(text, title): return re.sub("\\"title\\": \\"[^\\"]*\\"", "\\"title\\": \\"" + title + "\\"", text)
def tried(save, *given):
    try: save(*given)
    except OSError as failed: print(failed)
${body}
'`

/** A text that is held in memory, and how it is put. */
const holding = (put: string): string =>
  inPython(`text = read()
for title in titles:
    text = edited(text, title)
    pause("save")
${put
  .split('\n')
  .map(line => `    ${line}`)
  .join('\n')}`)

const rereadingIn = (put: string): string =>
  inPython(`for title in titles:
    pause("read")
    text = edited(read(), title)
    pause("save")
    ${put}`)

/** As GLib and Qt replace a file: a new one beside it, and a rename. */
const beside = (name: string): string => `def replaced(text):
    put(text, os.path.join(os.path.dirname(file), ${name}))
    os.rename(os.path.join(os.path.dirname(file), ${name}), file)
tried(replaced, text)`

const saver =
  (habit: Habit) =>
  (name: string, script: string, ...keeps: readonly string[]): Kind => ({ name, habit, script, keeps })
const [buffers, rereads, atOnces] = [saver('buffer'), saver('rereads'), saver('at once')] as const

export const kinds: readonly Kind[] = [
  buffers('vim with backupcopy=auto', vim('backupcopy=auto swapfile')),
  buffers('vim with backupcopy=yes', vim('backupcopy=yes')),
  buffers('vim with backupcopy=no', vim('backupcopy=no')),
  buffers('vim with undo', vim('backup undofile'), '%~', '.%.un~'),
  buffers('vim with a copied backup', vim('backup backupcopy=yes'), '%~'),
  buffers('vim without backups', vim('nobackup nowritebackup noswapfile')),
  buffers('emacs', emacs(''), '%~'),
  buffers('emacs with a copy', emacs('backup-by-copying t'), '%~'),
  buffers('emacs without backups', emacs('make-backup-files nil')),
  buffers('emacs, precious', emacs('file-precious-flag t'), '%~'),
  buffers('nano', nano('')),
  buffers('nano with a backup', nano('"-B", '), '%~'),
  buffers(
    'ed',
    `for title in $titles; do echo '${retitle}'; echo '!pause save'; echo w; done |
      sed 's/^s/g\\/"title"\\/s/; $aq' | ed -s "$file"`,
  ),
  buffers('VS Code in place', holding('tried(put, text)')),
  buffers('VS Code with an atomic write', holding(beside('file + ".vsctmp"'))),
  buffers('gedit', holding(beside('".goutputstream-XR4TQ1"'))),
  buffers('kate', holding(beside('file + ".tRqXbA"'))),
  buffers(
    'mousepad with its backup',
    holding(`def saved(text):
    os.rename(file, file + "~")
    put(text)
tried(saved, text)`),
    '%~',
  ),
  buffers(
    'python that keeps its file open',
    inPython(`def over(text):
    record.seek(0)
    record.write(text)
    record.truncate()
    record.flush()
    os.close(os.dup(record.fileno()))
record = open(file, "r+")
text = record.read()
for title in titles:
    text = edited(text, title)
    pause("save")
    tried(over, text)
tried(record.close)`),
  ),
  buffers(
    'python that writes in a thread',
    holding(`writer = threading.Thread(target=tried, args=(put, text))
writer.start()
writer.join()`),
  ),
  buffers(
    'python that forks while it writes',
    holding(`def forked(text):
    with open(file, "w") as out:
        out.write(text[:20])
        out.flush()
        if os.fork() == 0: os._exit(0)
        os.wait()
        out.write(text[20:])
tried(forked, text)`),
  ),
  buffers('cp of a copy', copied('cp "$held" "$file"')),
  buffers('cp --backup', copied('cp -b "$held" "$file"'), '%~'),
  buffers('mv of a copy', copied('mv "$held" "$file"')),
  buffers('a copy that a session of its own puts', copied('setsid -w cp "$held" "$file"')),
  buffers('a copy that a stranger puts', copied('setsid -f cp "$held" "$file"; sleep 1')),
  rereads(
    'jq, then mv',
    rereading('mv "$held" "$file"', `jq --arg title "$title" '.title = $title' "$file" > "$held"`),
  ),
  rereads(
    'jq beside it, then mv',
    rereading('mv "$file.tmp" "$file"', `jq --arg title $title '.title = $title' "$file" > "$file.tmp"`),
  ),
  rereads('sponge', rereading('sponge "$file" < "$held"')),
  rereads('tee', rereading('tee "$file" < "$held" > "$held.out"')),
  rereads('a redirection', rereading('cat "$held" > "$file"')),
  rereads(
    'a shell that writes itself',
    rereading('printf "%s\\n" "$text" > "$file"', `text=$(sed '${retitle}' "$file")`),
  ),
  rereads('a descriptor of the shell', rereading('cat "$held" 1<> "$file" > "$file"')),
  rereads('dd', rereading('dd if="$held" of="$file" conv=fsync bs=64 status=none')),
  rereads('rsync', rereading('rsync -I "$held" "$file"')),
  rereads('rsync --inplace', rereading('rsync -I --inplace "$held" "$file"')),
  rereads('install', rereading('install -m 644 "$held" "$file"')),
  rereads('mv with a backup', rereading('mv -b "$held" "$file"'), '%~'),
  rereads('awk', rereading('awk 1 "$held" > "$file"')),
  rereads('python with json.dump', rereadingIn('tried(put, json.dumps(json.loads(text), indent=1))')),
  rereads(
    'python with os.replace',
    rereadingIn('put(text, file + ".new"); tried(os.replace, file + ".new", file)'),
  ),
  rereads(
    'python that has cat write',
    rereadingIn('subprocess.run("cat > $file", shell=True, input=text.encode())'),
  ),
  rereads(
    'python with mmap',
    inPython(`for title in titles:
    pause("read")
    with open(file, "r+") as record, mmap.mmap(record.fileno(), 0) as map:
        at = map.find(b"\\"title\\": \\"") + 10
        pause("save")
        map[at:at + 8] = title.encode()`),
  ),
  atOnces('sed -i', atOnce(`sed -i '${retitle}' "$file"`)),
  atOnces('busybox sed -i', atOnce(`busybox sed -i '${retitle}' "$file"`)),
  atOnces('perl -i', atOnce(`perl -i -pe 's/"title": "[^"]*"/"title": "$ENV{title}"/' "$file"`)),
  atOnces('patch', atOnce(`sed '${retitle}' "$file" | diff -u "$file" - | patch -s "$file"`)),
  atOnces('a pid name space of its own', atOnce(`unshare -p -f sed -i '${retitle}' "$file"`)),
]

/** How a finished text is put, and what stays beside the file. */
const puts: readonly (readonly [name: string, put: string, ...keeps: string[]])[] = [
  [
    'truncate to nothing, then dd',
    'truncate -s 0 "$file"; dd if="$held" of="$file" conv=notrunc status=none',
  ],
  ['the file opened twice to append', ': > "$file"; { head -n 2 "$held"; tail -n +3 "$held"; } >> "$file"'],
  ['cp -p', 'cp -p "$held" "$file"'],
  ['cp with numbered backups', 'cp --backup=t "$held" "$file"', '%.~1~'],
  ['cp with the old file taken away first', 'cp --remove-destination "$held" "$file"'],
  ['install with a backup', 'install -b "$held" "$file"', '%~'],
  ['patch -b', 'diff -u "$file" "$held" | patch -s -b "$file"', '%.orig'],
  [
    'git apply',
    '(cd "$(dirname "$file")"; diff -u --label "a/$name" --label "b/$name" "$name" "$held" | git apply)',
  ],
  ['tar -x', 'cp "$held" "$name"; tar -c "$name" | tar -C "$(dirname "$file")" -x'],
  ['gio save', 'gio save "$file" < "$held"'],
  ['gio save with a backup', 'gio save -b "$file" < "$held"', '%~'],
  ['gio copy', 'gio copy "$held" "$file"'],
  ['gio copy with a backup', 'gio copy -b "$held" "$file"', '%~'],
  ['gio move', 'gio move "$held" "$file"'],
  ['rsync with a backup', 'rsync -b "$held" "$file"', '%~'],
]

/** The same while another program has the record open, which it reads to its end. */
const whileOpen = ['mv "$held" "$file"', 'cp --remove-destination "$held" "$file"', 'cp "$held" "$file"']

/** Further programs, and ways to bring a finished text into a file: tried while nothing else happens. */
export const ways: readonly Kind[] = [
  ...puts.map(([name, put, ...keeps]) => buffers(name, `name="\${file##*/}"; ${copied(put)}`, ...keeps)),
  ...whileOpen.map(put =>
    buffers(
      `${put} while another program has it open`,
      copied(`exec 5< "$file"; ${put}; cat <&5 > /dev/null; exec 5<&-`),
    ),
  ),
  buffers('emacs with numbered backups', emacs('version-control t'), '%.~1~'),
  atOnces('ex', atOnce(`ex -s -u NONE -c '%${retitle}' -c x "$file"`)),
  buffers(
    'python with fsync between small writes',
    holding(`def slowly(text):
    with open(file, "w") as out:
        for at in range(0, len(text), 50):
            out.write(text[at:at + 50])
            out.flush()
            os.fsync(out.fileno())
tried(slowly, text)`),
  ),
  atOnces(
    'python with fileinput in place',
    inPython(`for title in titles:
    pause("save")
    for line in fileinput.input(file, inplace=True): print(edited(line, title), end="")`),
  ),
  buffers(
    'python with a temporary file',
    holding(`def replaced(text):
    with tempfile.NamedTemporaryFile("w", dir=os.path.dirname(file), delete=False) as fresh: fresh.write(text)
    os.replace(fresh.name, file)
tried(replaced, text)`),
  ),
]
