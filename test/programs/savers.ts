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
  readonly keeps?: readonly string[]
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

const rereads = (name: string, script: string): Kind => ({ name, habit: 'rereads', script })
const buffers = (name: string, script: string): Kind => ({ name, habit: 'buffer', script })

export const kinds: readonly Kind[] = [
  { name: 'vim with backupcopy=auto', habit: 'buffer', script: vim('backupcopy=auto swapfile') },
  { name: 'vim with backupcopy=yes', habit: 'buffer', script: vim('backupcopy=yes') },
  { name: 'vim with backupcopy=no', habit: 'buffer', script: vim('backupcopy=no') },
  { name: 'vim with undo', habit: 'buffer', keeps: ['%~', '.%.un~'], script: vim('backup undofile') },
  { name: 'vim with a copied backup', habit: 'buffer', keeps: ['%~'], script: vim('backup backupcopy=yes') },
  { name: 'vim without backups', habit: 'buffer', script: vim('nobackup nowritebackup noswapfile') },
  { name: 'emacs', habit: 'buffer', keeps: ['%~'], script: emacs('') },
  { name: 'emacs with a copy', habit: 'buffer', keeps: ['%~'], script: emacs('backup-by-copying t') },
  { name: 'emacs without backups', habit: 'buffer', script: emacs('make-backup-files nil') },
  { name: 'emacs, precious', habit: 'buffer', keeps: ['%~'], script: emacs('file-precious-flag t') },
  { name: 'nano', habit: 'buffer', script: nano('') },
  { name: 'nano with a backup', habit: 'buffer', keeps: ['%~'], script: nano('"-B", ') },
  {
    name: 'ed',
    habit: 'buffer',
    script: `for title in $titles; do echo '${retitle}'; echo '!pause save'; echo w; done |
      sed 's/^s/g\\/"title"\\/s/; $aq' | ed -s "$file"`,
  },
  { name: 'VS Code in place', habit: 'buffer', script: holding('tried(put, text)') },
  { name: 'VS Code with an atomic write', habit: 'buffer', script: holding(beside('file + ".vsctmp"')) },
  { name: 'gedit', habit: 'buffer', script: holding(beside('".goutputstream-XR4TQ1"')) },
  { name: 'kate', habit: 'buffer', script: holding(beside('file + ".tRqXbA"')) },
  {
    name: 'mousepad with its backup',
    habit: 'buffer',
    keeps: ['%~'],
    script: holding(`def saved(text):
    os.rename(file, file + "~")
    put(text)
tried(saved, text)`),
  },
  {
    name: 'python that keeps its file open',
    habit: 'buffer',
    script: inPython(`def over(text):
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
  },
  {
    name: 'python that writes in a thread',
    habit: 'buffer',
    script: holding(`writer = threading.Thread(target=tried, args=(put, text))
writer.start()
writer.join()`),
  },
  {
    name: 'python that forks while it writes',
    habit: 'buffer',
    script: holding(`def forked(text):
    with open(file, "w") as out:
        out.write(text[:20])
        out.flush()
        if os.fork() == 0: os._exit(0)
        os.wait()
        out.write(text[20:])
tried(forked, text)`),
  },
  { name: 'cp of a copy', habit: 'buffer', script: copied('cp "$held" "$file"') },
  { name: 'cp --backup', habit: 'buffer', keeps: ['%~'], script: copied('cp -b "$held" "$file"') },
  { name: 'mv of a copy', habit: 'buffer', script: copied('mv "$held" "$file"') },
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
  { name: 'mv with a backup', habit: 'rereads', keeps: ['%~'], script: rereading('mv -b "$held" "$file"') },
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
  { name: 'sed -i', habit: 'at once', script: atOnce(`sed -i '${retitle}' "$file"`) },
  { name: 'busybox sed -i', habit: 'at once', script: atOnce(`busybox sed -i '${retitle}' "$file"`) },
  {
    name: 'perl -i',
    habit: 'at once',
    script: atOnce(`perl -i -pe 's/"title": "[^"]*"/"title": "$ENV{title}"/' "$file"`),
  },
  {
    name: 'patch',
    habit: 'at once',
    script: atOnce(`sed '${retitle}' "$file" | diff -u "$file" - | patch -s "$file"`),
  },
  {
    name: 'a pid name space of its own',
    habit: 'at once',
    script: atOnce(`unshare -p -f sed -i '${retitle}' "$file"`),
  },
]

/** How a finished text is put, and what stays beside the file. */
const puts: readonly (readonly [name: string, put: string, keeps?: string])[] = [
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
  ...puts.map(([name, put, keeps]) => ({
    name,
    habit: 'buffer' as const,
    script: `name="\${file##*/}"; ${copied(put)}`,
    keeps: keeps === undefined ? [] : [keeps],
  })),
  ...whileOpen.map(put => ({
    name: `${put} while another program has it open`,
    habit: 'buffer' as const,
    script: copied(`exec 5< "$file"; ${put}; cat <&5 > /dev/null; exec 5<&-`),
  })),
  {
    name: 'emacs with numbered backups',
    habit: 'buffer',
    keeps: ['%.~1~'],
    script: emacs('version-control t'),
  },
  { name: 'ex', habit: 'at once', script: atOnce(`ex -s -u NONE -c '%${retitle}' -c x "$file"`) },
  {
    name: 'python with fsync between small writes',
    habit: 'buffer',
    script: holding(`def slowly(text):
    with open(file, "w") as out:
        for at in range(0, len(text), 50):
            out.write(text[at:at + 50])
            out.flush()
            os.fsync(out.fileno())
tried(slowly, text)`),
  },
  {
    name: 'python with fileinput in place',
    habit: 'at once',
    script: inPython(`for title in titles:
    pause("save")
    for line in fileinput.input(file, inplace=True): print(edited(line, title), end="")`),
  },
  {
    name: 'python with a temporary file',
    habit: 'buffer',
    script: holding(`def replaced(text):
    with tempfile.NamedTemporaryFile("w", dir=os.path.dirname(file), delete=False) as fresh: fresh.write(text)
    os.replace(fresh.name, file)
tried(replaced, text)`),
  },
]
