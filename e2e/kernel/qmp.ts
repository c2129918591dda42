import { connect } from 'node:net'

const HOLD_MS = 100

export type Qmp = Awaited<ReturnType<typeof connectQmp>>

/** Connects to the control socket of QEMU, which attaches and removes emulated devices. */
export const connectQmp = async (path: string) => {
  const socket = connect(path)
  socket.setEncoding('utf8')
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve)
    socket.once('error', reject)
  })
  let text = ''
  const waiting: ((answer: { error?: { desc: string } }) => void)[] = []
  socket.on('error', () => {})
  socket.on('data', (chunk: string) => {
    text += chunk
    const lines = text.split('\n')
    text = lines.pop() ?? ''
    for (const line of lines) {
      const message = JSON.parse(line)
      // A message that is neither greeting nor event answers the oldest command.
      if ('return' in message || 'error' in message) waiting.shift()?.(message)
    }
  })
  const execute = async (command: string, args: Record<string, unknown> = {}): Promise<void> => {
    const answer = new Promise<{ error?: { desc: string } }>((resolve) => waiting.push(resolve))
    socket.write(`${JSON.stringify({ execute: command, arguments: args })}\n`)
    const { error } = await answer
    if (error !== undefined) throw new Error(`${command}: ${error.desc}`)
  }
  await execute('qmp_capabilities')
  return {
    plug: (driver: string, id: string, port: string, more: Record<string, unknown> = {}) =>
      execute('device_add', { driver, id, bus: 'xhci.0', port, ...more }),
    unplug: (id: string) => execute('device_del', { id }),
    /** Types one letter on the keyboard that was attached last, and waits until the key is released. */
    type: async (letter: string): Promise<void> => {
      await execute('send-key', { keys: [{ type: 'qcode', data: letter }], 'hold-time': HOLD_MS })
      await new Promise((resolve) => setTimeout(resolve, 3 * HOLD_MS))
    },
    close: () => socket.destroy(),
  }
}
