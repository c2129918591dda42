import { unless } from '@portcullis/domain/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { adminPassword, type RunningServer, remove, startServer, temporaryDir } from '../../proof/kit/harness.ts'
import { enrolDesk } from '../console-pages.ts'
import { type Engine, keys, startFirefox, startWebKit, whyNoFirefox, whyNoWebKit } from './engines.ts'

const engines = [
  ['Firefox ESR', startFirefox, whyNoFirefox],
  ['WebKitGTK', startWebKit, whyNoWebKit],
] as const

const patience = { timeout: 30_000, interval: 200 }

/** Finds a visible element by HTML role and part of its text or label. */
const find = (selector: string, text: string): string => `[...document.querySelectorAll(${JSON.stringify(selector)})]
  .find((one) => one.checkVisibility() && ((one.getAttribute('aria-label') ?? '') + ' ' + one.textContent).includes(${JSON.stringify(text)}))`

const buttons = 'button, a, [role=button], [role=tab], [role=row], [role=option]'

describe.each(engines)('the ten main jobs in %s', (_name, start, whyNot) => {
  describe('a person', unless(whyNot), () => {
    const dir = temporaryDir()
    let server: RunningServer
    let engine: Engine
    let host = ''

    beforeAll(async () => {
      server = await startServer(dir)
      host = await enrolDesk(server)
      engine = await start()
    })
    afterAll(async () => {
      await engine?.close()
      await server?.stop()
      remove(dir)
    })

    const sees = (text: string) =>
      expect.poll(() => engine.evaluate('document.body.innerText'), patience).toContain(text)
    const click = async (text: string, selector = buttons) => {
      await expect.poll(() => engine.evaluate(`${find(selector, text)} !== undefined`), patience).toBe(true)
      await engine.evaluate(`${find(selector, text)}.click()`)
    }
    const focus = (selector: string) =>
      expect
        .poll(
          () =>
            engine.evaluate(
              `(document.querySelector(${JSON.stringify(selector)})?.focus(), document.activeElement?.matches(${JSON.stringify(selector)}) === true)`,
            ),
          patience,
        )
        .toBe(true)
    const type = async (selector: string, text: string) => {
      await focus(selector)
      await engine.press(...text)
    }
    const open = async (path: string, heading: string) => {
      await engine.goTo(`${server.url}${path}`)
      await expect
        .poll(() => engine.evaluate(`document.querySelector('main h1')?.textContent ?? ''`), patience)
        .toContain(heading)
    }

    it('signs in by keyboard', async () => {
      await engine.goTo(server.url)
      await type('input[name=username]', 'admin')
      await type('input[name=password]', adminPassword)
      await engine.press(keys.enter)
      await sees('Overview')
      await expect.poll(() => engine.evaluate('location.pathname'), patience).toBe('/')
    })

    it('finds a host with the palette', async () => {
      await engine.chord(keys.control, 'k')
      await type('[role=dialog] input', 'front-desk')
      await sees('Free · 10.1.2.3')
      await engine.press(keys.enter)
      await expect.poll(() => engine.evaluate('location.pathname'), patience).toContain(host)
    })

    it('shows why a device is flagged', async () => {
      await open('/peripherals', 'Devices')
      await sees('Suspected attack tool')
    })

    it('filters a list by its address', async () => {
      await open('/agents?HostIdentifier=front', 'Hosts')
      await sees('front-desk')
      await open('/agents?HostIdentifier=elsewhere', 'Hosts')
      await expect.poll(() => engine.evaluate('document.body.innerText'), patience).not.toContain('front-desk')
    })

    it('previews an approval of devices, and cancels it', async () => {
      await open('/policy', 'Rules')
      await click('Approve attached devices…', 'main button')
      await sees('will be approved there')
      await engine.press(keys.escape)
      await expect.poll(() => engine.evaluate(`document.querySelector('[role=dialog]') === null`), patience).toBe(true)
    })

    it('reads an alert', async () => {
      await open('/alerts', 'Alerts')
      await sees('front-desk')
    })

    it('reads events', async () => {
      await open('/events', 'Events')
      await sees('front-desk')
    })

    it('saves a setting', async () => {
      await open('/policy/settings', 'Policy settings')
      const contact =
        "[...document.querySelectorAll('label')].find((one) => one.textContent.startsWith('Contact'))?.control"
      await expect
        .poll(() => engine.evaluate(`(${contact}?.focus(), document.activeElement === ${contact})`), patience)
        .toBe(true)
      await engine.press(...'Help desk')
      await click('Save', 'main button')
      await expect
        .poll(async () => (await server.get<{ settings: { contact: string } }>('policy')).settings.contact, patience)
        .toContain('Help desk')
    })

    it('opens a new rule', async () => {
      await open('/policy', 'Rules')
      await click('Add rule', 'main button')
      await sees('Vendor ID')
    })

    it('signs out', async () => {
      await open('/', 'Overview')
      await click('admin', 'header button, nav button, button')
      await click('Sign out', '[role=menuitem], button')
      await sees('User name')
    })
  })
})
