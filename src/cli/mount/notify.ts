// Readiness notification for a Type=notify unit, through systemd-notify: Node has no datagram sockets of that kind.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const deadline = 5000

/**
 * Says that the drive is mounted, or is being taken down; does nothing outside a unit that waits for it.
 * @param environment holds NOTIFY_SOCKET where systemd waits; the unit needs NotifyAccess=all
 * @throws where systemd-notify fails: the unit would be killed at its start-up limit, and should say why
 */
export async function notifySystemd(
  state: 'READY=1' | 'STOPPING=1',
  environment: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  if (!environment['NOTIFY_SOCKET']) return
  await promisify(execFile)('systemd-notify', [state], { timeout: deadline })
}
