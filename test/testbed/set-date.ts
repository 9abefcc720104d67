// Preloaded into a daemon under test: the machine's date is wrong by as many milliseconds as the file `date` in its home says.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const file = join(process.env['HOME'] ?? '/', 'date')
const date = Date.now.bind(Date)
let lookedAt = 0
let offset = 0

Date.now = () => {
  const now = date()
  if (now - lookedAt > 50) {
    lookedAt = now
    offset = offsetNow()
  }
  return now + offset
}

function offsetNow(): number {
  try {
    return Number(readFileSync(file, 'utf8'))
  } catch {
    // It has not been set yet.
    return 0
  }
}
