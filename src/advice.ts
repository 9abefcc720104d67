// Advice: what a user can do about each kind of failure, each text that was not saved, and a refused sign-in. Worded here alone.
import type { Failure, FailureKind } from './failure.js'

const whenThere = 'Try again when the service answers; `calcfs status` says how it is'
const looking = 'Look at it on the platform before you try again.'
export const signInAdvice =
  'Sign in with `calcfs login`, or see to CALCFS_PASSWORD or CALCFS_TOKEN; then try again.'
const correcting = 'Correct the text and save again.'

/** None where the failure's own sentence says it. */
const ofFailures: Partial<Record<FailureKind, string>> = {
  unauthenticated: signInAdvice,
  forbidden: 'Ask the owner to share it with you, or to do it for you.',
  'refuses-all': `${whenThere}.`,
  'in-doubt': `${whenThere}.`,
  busy: `${whenThere}.`,
  timeout: `${whenThere}. A slow one needs longer deadlines (--deadline-metadata, --deadline-save).`,
  unreachable: `${whenThere}. Where it never did, check the address and the network; HTTPS_PROXY names a proxy.`,
  untrusted:
    'Check http or https; give --ca-file FILE with the authority of this instance, from its administrator.',
  'disk-read-only': 'Make that directory writable for its owner, then try again.',
  'no-space': 'Make room on the disk that `calcfs doctor` names, then try again.',
  'service-full': 'The platform has no room left: ask its administrators.',
  conflict: 'Read it again, make the change in the new text, and save.',
  replaced: 'What was read of the old version before belongs to no other.',
  broken: looking,
  'outcome-unknown': looking,
  internal: looking,
  'no-upload':
    'A program that writes where it reads, or where it runs, works in a directory of your own with a link to the file here: `cd ~/work && ln -s FILE . && PROGRAM NAME`.',
  'not-empty': 'Empty it first; what is in it stays as it is.',
}

const foreign =
  'Open any web page in a browser, for the sign-in page of this network, or switch the VPN on; then try again.'

/** Where a text is kept that may be sent again. NAME is its name. */
const sendOrDrop =
  'To send the text as it is: `calcfs drafts send NAME`; to give it up: `calcfs drafts drop NAME`.'
const dropOnly = 'To give it up: `calcfs drafts drop NAME`.'

/** Of a text that was not saved, where that needs more than what failed. */
const ofTexts: Readonly<Record<string, string>> = {
  'not-json': `Correct the text at that place and save again. ${dropOnly}`,
  refused: `${correcting} ${dropOnly}`,
  invalid: `${correcting} ${dropOnly}`,
  'too-large': `${correcting} ${dropOnly}`,
  conflict: `Compare the two first: \`calcfs drafts diff NAME\` (the other one ends in .theirs.json); before that both a send and a new save are refused. ${sendOrDrop}`,
  'another-thing': `Print it with \`calcfs drafts show NAME\`, and write it into the record of the thing that you mean. ${dropOnly}`,
  absent: `The record is gone on the service: if you still need the text, print it with \`calcfs drafts show NAME\`. ${dropOnly}`,
  'outcome-unknown':
    'Look on the platform whether it was made. If it was: `calcfs drafts drop NAME`; if not: `calcfs drafts send --again NAME`.',
  lost: `It is neither shown in its file nor sent. Look at what is left with \`calcfs drafts show NAME\`, and write the text once more. ${dropOnly}`,
}

/** A failure of a text is kept by its kind; 'foreign' stands for another server that answered. */
export const troubleOf = ({ isForeign, kind }: Failure): FailureKind | 'foreign' =>
  isForeign ? 'foreign' : kind

const general = (trouble: string): string | undefined =>
  trouble === 'foreign' ? foreign : (ofFailures as Partial<Record<string, string>>)[trouble]

/** The advice for a failure. */
export const adviceFor = (failure: Failure): string | undefined => general(troubleOf(failure))

/** Advice as it is typed where these flags name the drive: its commands have no path that says which is meant. */
export const adviceOn = (flags: Readonly<Record<string, string>>, advice: string): string =>
  advice.replace(/`calcfs (?:drafts|report) [^`]+/g, line => `${line} ${typedFlags(flags)}`)

export const typedFlags = (flags: Readonly<Record<string, string>>): string =>
  Object.entries(flags)
    .map(([name, value]) => `--${name} ${shellWord(value)}`)
    .join(' ')

/** The advice for the text of this name; 'lost' is one that the disk has damaged. */
export function adviceForText(trouble: string, name: string): string {
  const known = general(trouble)
  const usual = known === undefined ? sendOrDrop : `${known} ${sendOrDrop}`
  return (ofTexts[trouble] ?? usual).replaceAll('NAME', () => shellWord(name))
}

/** The command that signs a user in at this service, whatever a configuration file says; without a user the last one there. */
export function loginCommand(address: string, user: string | undefined): string {
  if (user === undefined || user === '') return `calcfs login ${address}`
  return `calcfs login ${address} --user ${shellWord(user)}`
}

/** The end of a sentence about a sign-in that is refused; `from` is the place that its password or token is given at. */
export function signInMend(address: string, user: string | undefined, from: string | undefined): string {
  const command = `run \`${loginCommand(address, user)}\``
  return from === undefined ? command : `correct ${from}, or take it away and ${command}`
}

/** Of a text of another mount, in the process of this number; none where that has ended. */
export const waitsElsewhere = (process: number | undefined): string =>
  process === undefined
    ? 'was left by a mount that has ended, and the next calcfs mount of this user takes it over'
    : `waits on another mount of yours, in process ${process}: calcfs status says which that is, and --mount names it`

/** As one word of a shell. */
export const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
