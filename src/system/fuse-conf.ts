// What /etc/fuse.conf lets ordinary users do.
import { existsSync, readFileSync } from 'node:fs'

const file = '/etc/fuse.conf'

/** Whether fusermount opens a drive of this user to others: always for root, for the rest where the administrator allows it. */
export const mayAllowOthers = (): boolean =>
  process.getuid?.() === 0 ||
  (existsSync(file) && /^[ \t]*user_allow_other[ \t]*(#.*)?$/m.test(readFileSync(file, 'utf8')))

/** For messages: what is wrong where they may not, and the command that mends it. */
export const othersNotAllowed = {
  found: `${file} does not allow it to users`,
  mend: `echo user_allow_other | sudo tee -a ${file}`,
} as const
