/** Starts browsers that do not use Chromium's engine, and drives them with WebDriver protocols. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import { join } from 'node:path'
import { remove, temporaryDir } from '../../proof/kit/harness.ts'
import { freePort } from '../../server/test/free-port.ts'

/** A browser window. */
export interface Engine {
  goTo: (url: string) => Promise<void>
  /** Runs an expression in the page. */
  evaluate: (expression: string) => Promise<unknown>
  /** Presses and releases keys, one after the other. */
  press: (...keys: string[]) => Promise<void>
  /** Presses keys together. */
  chord: (...keys: string[]) => Promise<void>
  close: () => Promise<void>
}

export const keys = { enter: '\uE007', control: '\uE009', escape: '\uE00C' } as const

const firefox = '/usr/bin/firefox-esr'
const webkitDriver = '/usr/bin/WebKitWebDriver'
const miniBrowser = globSync('/usr/lib/*/webkit2gtk-4.*/MiniBrowser')[0]
const screen = '/usr/bin/Xvfb'

export const whyNoFirefox = existsSync(firefox) ? null : `no Firefox ESR at ${firefox}`
export const whyNoWebKit =
  existsSync(webkitDriver) && miniBrowser !== undefined && existsSync(screen)
    ? null
    : 'no WebKitWebDriver, MiniBrowser or Xvfb (packages webkit2gtk-driver and xvfb)'

const ended = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve()
    child.on('exit', () => resolve())
    child.kill('SIGKILL')
  })

const keyActions = (all: readonly string[], isChord: boolean) => {
  const down = all.map((value) => ({ type: 'keyDown', value }))
  const up = all.map((value) => ({ type: 'keyUp', value }))
  const actions = isChord ? [...down, ...up.toReversed()] : down.flatMap((one, i) => [one, ...up.slice(i, i + 1)])
  return [{ type: 'key', id: 'keyboard', actions }]
}

/** Returns the address that a browser prints when it listens. */
const printed = (child: ChildProcess, pattern: RegExp): Promise<string> =>
  new Promise((resolve, reject) => {
    let text = ''
    child.stderr?.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      const found = pattern.exec(text)?.[1]
      if (found !== undefined) resolve(found)
    })
    child.on('exit', () => reject(new Error(`the browser ended: ${text.slice(-2_000)}`)))
  })

/** Starts Firefox, which needs no driver for WebDriver BiDi. */
export const startFirefox = async (): Promise<Engine> => {
  const profile = temporaryDir()
  const child = spawn(
    firefox,
    ['--headless', '--no-remote', '--remote-debugging-port', String(await freePort()), '--profile', profile],
    { env: { ...process.env, HOME: profile }, stdio: ['ignore', 'ignore', 'pipe'] },
  )
  const address = await printed(child, /listening on (ws:\/\/\S+)/)
  const socket = new WebSocket(`${address}/session`)
  const waiting = new Map<number, { resolve: (value: never) => void; reject: (fault: Error) => void }>()
  socket.onmessage = ({ data }) => {
    const { id, type, result, message } = JSON.parse(String(data))
    const call = waiting.get(id)
    waiting.delete(id)
    if (type === 'error') call?.reject(new Error(message))
    else call?.resolve(result as never)
  }
  await new Promise((resolve, reject) => {
    socket.onopen = resolve
    socket.onerror = () => reject(new Error('Firefox refused the connection'))
  })
  let last = 0
  const call = <T>(method: string, params: object): Promise<T> =>
    new Promise((resolve, reject) => {
      last++
      waiting.set(last, { resolve: resolve as (value: never) => void, reject })
      socket.send(JSON.stringify({ id: last, method, params }))
    })
  await call('session.new', { capabilities: {} })
  const { contexts } = await call<{ contexts: { context: string }[] }>('browsingContext.getTree', {})
  const context = contexts[0]?.context ?? ''
  const perform = (all: readonly string[], isChord: boolean) =>
    call<void>('input.performActions', { context, actions: keyActions(all, isChord) })
  return {
    goTo: (url) => call('browsingContext.navigate', { context, url, wait: 'complete' }),
    evaluate: async (expression) => {
      const answer = await call<{ result?: { value?: string }; exceptionDetails?: { text: string } }>(
        'script.evaluate',
        {
          expression: `Promise.resolve(${expression}).then((value) => JSON.stringify(value ?? null))`,
          target: { context },
          awaitPromise: true,
        },
      )
      if (answer.exceptionDetails !== undefined) throw new Error(answer.exceptionDetails.text)
      return JSON.parse(answer.result?.value ?? 'null')
    },
    press: (...all) => perform(all, false),
    chord: (...all) => perform(all, true),
    close: async () => {
      socket.close()
      await ended(child)
      remove(profile)
    },
  }
}

/** Starts WebKitGTK, which needs a display and a driver for WebDriver over HTTP. */
export const startWebKit = async (): Promise<Engine> => {
  const home = temporaryDir()
  const display = `:${90 + (process.pid % 900)}`
  const server = spawn(screen, [display, '-screen', '0', '1440x900x24', '-nolisten', 'tcp'], { stdio: 'ignore' })
  const port = await freePort()
  const env = {
    ...process.env,
    HOME: home,
    XDG_RUNTIME_DIR: home,
    DISPLAY: display,
    GDK_BACKEND: 'x11',
    WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1',
    WEBKIT_DISABLE_COMPOSITING_MODE: '1',
  }
  const driver = spawn(webkitDriver, [`--port=${port}`, '--host=127.0.0.1'], { env, stdio: 'ignore' })
  const call = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    })
    const { value } = (await response.json()) as { value: T & { message?: string } }
    if (!response.ok) throw new Error(`${path}: ${value.message}`)
    return value
  }
  const options = { binary: miniBrowser, args: ['--automation'] }
  const capabilities = { alwaysMatch: { 'webkitgtk:browserOptions': options } }
  const begin = async (attempts: number): Promise<string> => {
    try {
      return (await call<{ sessionId: string }>('POST', '/session', { capabilities })).sessionId
    } catch (fault) {
      if (attempts === 0) throw fault
      await new Promise((resolve) => setTimeout(resolve, 500))
      return begin(attempts - 1)
    }
  }
  const session = `/session/${await begin(40)}`
  const perform = (all: readonly string[], isChord: boolean) =>
    call<void>('POST', `${session}/actions`, { actions: keyActions(all, isChord) })
  return {
    goTo: (url) => call('POST', `${session}/url`, { url }),
    evaluate: (expression) => call('POST', `${session}/execute/sync`, { script: `return ${expression}`, args: [] }),
    press: (...all) => perform(all, false),
    chord: (...all) => perform(all, true),
    close: async () => {
      await call('DELETE', session).catch(() => undefined)
      await ended(driver)
      await ended(server)
      remove(join(home))
    },
  }
}
