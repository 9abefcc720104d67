// Programs that put a finished text into a file, each as one line of shell: `$copy` is the text, `$file` where it goes. Those of test/edit/save/programs.ts, which edit, are not repeated.
import { fileURLToPath } from 'node:url'
import { python } from '../testbed/programs.js'

export interface Saver {
  readonly name: string
  readonly line: string
  /** What the program is set to leave next to the file; `%` stands for the file's name. */
  readonly keeps?: readonly string[]
  /** One of the few that are also let loose on libfuse. */
  readonly everywhere?: true
}

const vsCode = fileURLToPath(new URL('vs-code.js', import.meta.url))

/** Debian's emacs makes no backups below /tmp, where the tests' mounts are. */
const emacs = (settings: string): string =>
  `emacs -Q --batch --eval '(setq backup-enable-predicate (lambda (_) t) ${settings})' "$file" \\
   --eval '(progn (erase-buffer) (insert-file-contents (getenv "copy")) (save-buffer))'`

/** Nor does vim. */
const vim = (settings: string, save = 'wq'): string =>
  `vim -es -u NONE -c 'set backupskip= ${settings}' -c '%!cat "$copy"' -c '${save}' "$file"`

const whileOpen = (line: string): string => `exec 3< "$file"; ${line}; cat <&3 > /dev/null; exec 3<&-`

export const savers: readonly Saver[] = [
  { name: 'emacs', line: emacs(''), keeps: ['%~'], everywhere: true },
  { name: 'emacs with numbered backups', line: emacs('version-control t'), keeps: ['%.~1~'] },
  {
    name: 'emacs with numbered backups that it copies',
    line: emacs('version-control t backup-by-copying t'),
    keeps: ['%.~1~'],
  },
  { name: 'vim with backupcopy=auto', line: vim('writebackup backupcopy=auto swapfile'), everywhere: true },
  { name: 'vim with :w!', line: vim('backupcopy=auto', 'w! | q') },
  { name: 'ex', line: `ex -s -u NONE -c '%!cat "$copy"' -c x "$file"` },
  {
    name: 'VS Code in place',
    line: `node ${vsCode} in-place "$file" 0 "$copy"`,
    everywhere: true,
  },
  {
    name: 'VS Code with an atomic write',
    line: `node ${vsCode} atomic "$file" 0 "$copy"`,
    everywhere: true,
  },
  {
    name: 'jq to a file next to it, then mv',
    line: `jq --slurpfile new "$copy" '. * $new[0]' "$file" > "$file.tmp" && mv "$file.tmp" "$file"`,
    everywhere: true,
  },
  { name: 'sponge', line: `sponge "$file" < "$copy"`, everywhere: true },
  {
    name: 'truncate to nothing, then dd without',
    line: `truncate -s 0 "$file"; dd if="$copy" of="$file" conv=notrunc status=none`,
  },
  {
    name: 'the file opened twice to append',
    line: `: > "$file"; head -n 2 "$copy" > "$copy.head"; tail -n +3 "$copy" > "$copy.tail"
           { cat "$copy.head"; cat "$copy.tail"; } >> "$file"`,
  },
  {
    name: 'cp with numbered backups',
    line: `cp --backup=t "$copy" "$file"`,
    keeps: ['%.~1~'],
  },
  { name: 'cp -p', line: `cp -p "$copy" "$file"` },
  { name: 'install', line: `install -m 644 "$copy" "$file"`, everywhere: true },
  { name: 'install with a backup', line: `install -b "$copy" "$file"`, keeps: ['%~'] },
  {
    name: 'patch -b',
    line: `diff -u "$file" "$copy" | patch -s -b "$file"`,
    keeps: ['%.orig'],
  },
  {
    name: 'git apply',
    line: `diff -u --label "a/$name" --label "b/$name" "$file" "$copy" > "$copy.patch"
           cd "$(dirname "$file")" && git apply "$copy.patch"`,
  },
  { name: 'tar -x', line: `tar -C "$(dirname "$copy")" -c "$name" | tar -C "$(dirname "$file")" -x` },
  { name: 'gio save', line: `gio save "$file" < "$copy"`, everywhere: true },
  { name: 'gio save with a backup', line: `gio save -b "$file" < "$copy"`, keeps: ['%~'] },
  { name: 'gio copy', line: `gio copy "$copy" "$file"` },
  { name: 'gio copy with a backup', line: `gio copy -b "$copy" "$file"`, keeps: ['%~'] },
  { name: 'gio move', line: `gio move "$copy" "$file"` },
  { name: 'rsync with a backup', line: `rsync -b "$copy" "$file"`, keeps: ['%~'] },
  {
    name: 'mv while another program has the file open',
    line: whileOpen('mv "$copy" "$file"'),
    everywhere: true,
  },
  {
    name: 'the file deleted and created again while another program has it open',
    line: whileOpen('cp --remove-destination "$copy" "$file"'),
  },
  {
    name: 'cp while another program has the file open',
    line: whileOpen('cp "$copy" "$file"'),
  },
  { name: 'cp with the old file taken away first', line: `cp --remove-destination "$copy" "$file"` },
  {
    name: 'python with small writes and fsync between them',
    line: `${python} -c 'import os
text = open(os.environ["copy"]).read()
with open(os.environ["file"], "w") as out:
    for at in range(0, len(text), 50):
        out.write(text[at:at+50]); out.flush(); os.fsync(out.fileno())'`,
  },
  {
    name: 'python with fileinput in place',
    line: `${python} -c 'import fileinput, os
new = iter(open(os.environ["copy"]).readlines())
for _ in fileinput.input(os.environ["file"], inplace=True): print(next(new, ""), end="")
open(os.environ["file"], "a").writelines(new)'`,
  },
  {
    name: 'python with a temporary file and os.replace',
    line: `${python} -c 'import os, tempfile
fresh = tempfile.NamedTemporaryFile("w", dir=os.path.dirname(os.environ["file"]), delete=False)
fresh.write(open(os.environ["copy"]).read()); fresh.close(); os.replace(fresh.name, os.environ["file"])'`,
    everywhere: true,
  },
]
