import { spawn } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { until } from '../harness.ts'

export interface VmOptions {
  qemu: string
  kernel: string
  initramfs: string
  /** Folder for the console log and the control socket. */
  dir: string
  /** Additional arguments of QEMU. */
  options?: readonly string[]
  /** Default: 1,024. */
  memoryMb?: number
  /** Additional parameters of the kernel. */
  parameters?: string
  /** Time limit for booting. Default: 120 s. */
  bootMs?: number
}

export interface Answer {
  code: number
  output: string
}

/** Interval of polls. Each poll takes some ms of the slow virtual processors, so frequent polls would delay the result. */
const ASK_EVERY_MS = 50

/** Like `until`, for conditions in the virtual machine: polls less often and has a longer deadline. */
export const eventually: typeof until = (what, look, deadlineMs = 60_000) => {
  let askedAt = Number.NEGATIVE_INFINITY
  return until(
    what,
    () => {
      if (performance.now() - askedAt < ASK_EVERY_MS) return undefined
      askedAt = performance.now()
      return look()
    },
    deadlineMs,
  )
}

/** Time limit for booting. An emulated boot takes 10 to 20 s, and longer under load. */
const BOOT_MS = 120_000
const RUN_MS = 60_000

export type Vm = Awaited<ReturnType<typeof bootVm>>

class BootError extends Error {}

/**
 * Boots a kernel in QEMU and returns a shell in it. Repeats a boot that ends early: on a busy machine, the emulation sometimes
 * runs code that the kernel is just patching for its second processor, and the kernel panics.
 */
export const bootVm = (options: VmOptions) =>
  bootOnce(options).catch((error: unknown) => {
    if (error instanceof BootError) return bootOnce(options)
    throw error
  })

/**
 * Uses emulation (`tcg`), because hardware virtualisation is not available on all test machines and results must be the same
 * everywhere.
 */
const bootOnce = async ({
  qemu,
  kernel,
  initramfs,
  dir,
  options = [],
  memoryMb = 1_024,
  parameters = '',
  bootMs = BOOT_MS,
}: VmOptions) => {
  const consoleLog = join(dir, 'console.log')
  const socketPath = join(dir, 'shell')
  writeFileSync(consoleLog, '')
  let shell: Socket | undefined
  let received = ''
  const answers = new Map<string, (answer: Answer) => void>()
  let isReady = false
  const onLine = (line: string): void => {
    if (line === 'ready') isReady = true
    const [number = '', code = '', output = ''] = line.split(' ')
    answers.get(number)?.({ code: Number(code), output: Buffer.from(output, 'base64').toString() })
    answers.delete(number)
  }
  const listener = createServer((socket) => {
    shell = socket
    socket.setEncoding('utf8')
    socket.on('data', (text: string) => {
      received += text
      const lines = received.split('\n')
      received = lines.pop() ?? ''
      for (const line of lines) onLine(line.trim())
    })
    socket.on('error', () => {})
  })
  await new Promise<void>((resolve) => listener.listen(socketPath, resolve))
  const child = spawn(
    qemu,
    [
      // Without i8042, every keyboard of the machine is a USB keyboard.
      ...['-nodefaults', '-display', 'none', '-no-reboot', '-machine', 'pc,i8042=off', '-accel', 'tcg,thread=multi'],
      ...['-cpu', 'max', '-smp', '2', '-m', String(memoryMb), '-kernel', kernel, '-initrd', initramfs],
      // A panic ends QEMU, which the test detects at once. The serial console gets only warnings, because it is slow.
      ...['-append', `console=ttyS0 panic=-1 loglevel=4 mitigations=off printk.devkmsg=on ${parameters}`],
      ...['-chardev', `file,id=console,path=${consoleLog}`, '-serial', 'chardev:console'],
      // A second serial port lost one in several hundred answers.
      ...['-chardev', `socket,id=shell,path=${socketPath}`, '-device', 'virtio-serial-pci'],
      ...['-device', 'virtserialport,chardev=shell,name=shell'],
      ...['-netdev', 'user,id=net', '-device', 'e1000,netdev=net'],
      ...options,
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  )
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      said += chunk.toString()
    })
  let hasEnded = false
  const ended = new Promise<void>((resolve) =>
    child.on('close', () => {
      hasEnded = true
      resolve()
    }),
  )
  // Kills QEMU however the tests end.
  const kill = (): void => void child.kill('SIGKILL')
  process.once('exit', kill)

  const log = (): string => readFileSync(consoleLog, 'utf8')
  const fail = (what: string): never => {
    throw new Error(`${what}\n${said}\n${log().split('\n').slice(-30).join('\n')}`)
  }
  const stop = async (): Promise<void> => {
    kill()
    await ended
    process.removeListener('exit', kill)
    shell?.destroy()
    await new Promise((resolve) => listener.close(resolve))
    rmSync(socketPath, { force: true })
  }

  let next = 0
  /** Runs a script in the machine's shell with the functions of guest.sh. Returns its exit code and output. */
  const attempt = async (script: string, deadlineMs = RUN_MS): Promise<Answer> => {
    const number = String(++next)
    let answer: Answer | undefined
    answers.set(number, (given) => {
      answer = given
    })
    shell?.write(`${number} ${Buffer.from(script).toString('base64')}\n`)
    const { value } = await until(
      `the machine answers: ${script}`,
      () => {
        if (hasEnded) fail('the machine ended')
        return answer
      },
      deadlineMs,
    )
    return value
  }

  try {
    await until(
      'the machine is up',
      () => {
        if (hasEnded) fail('the machine ended while it booted')
        return isReady
      },
      bootMs,
    )
  } catch (error) {
    const isOver = hasEnded
    await stop()
    throw isOver ? new BootError(String(error)) : new Error(`${error}\n${said}\n${log()}`)
  }
  return {
    attempt,
    /** Runs a script that must succeed and returns its output. */
    run: async (script: string, deadlineMs?: number): Promise<string> => {
      const { code, output } = await attempt(script, deadlineMs)
      if (code !== 0) throw new Error(`exit code ${code}: ${script}\n${output}`)
      return output.trim()
    },
    stop,
  }
}
