// A process of a test that does one piece of work after another: a Node that is not started each time.
import { type ChildProcess, spawn } from 'node:child_process'
import { testNode } from '../programs.js'

interface Numbered<Content> {
  readonly number: number
  readonly content: Content
}

/** The test's end of it. It begins with the first piece of work, and ends with this process. */
export class Host<Work, Answer> {
  readonly #waiting = new Map<number, (answer: Answer) => void>()
  #child: ChildProcess | undefined
  #asked = 0

  /** @param lost is answered where it has ended */
  constructor(
    private readonly program: string,
    private readonly lost: (code: number | null) => Answer,
  ) {}

  ask(content: Work): Promise<Answer> {
    this.#child ??= this.#started()
    const number = ++this.#asked
    const answered = new Promise<Answer>(resolve => this.#waiting.set(number, resolve))
    this.#child.send({ number, content })
    return answered
  }

  #started(): ChildProcess {
    const [first, ...rest] = testNode
    const child = spawn(first, [...rest, this.program], {
      cwd: '/',
      env: { ...process.env, LC_ALL: 'C.UTF-8', TZ: 'UTC' },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    child.on('message', ({ number, content }: Numbered<Answer>) => {
      this.#waiting.get(number)?.(content)
      this.#waiting.delete(number)
    })
    child.once('exit', code => {
      this.#child = undefined
      for (const answer of this.#waiting.values()) answer(this.lost(code))
      this.#waiting.clear()
    })
    child.unref()
    child.channel?.unref()
    return child
  }
}

const host = process

/** The other end. */
export function serve<Work, Answer>(carryOut: (work: Work) => Promise<Answer>): void {
  host.on('message', ({ number, content }: Numbered<Work>) => {
    void carryOut(content).then(answer => host.send?.({ number, content: answer }))
  })
}
