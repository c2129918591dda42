import { fileURLToPath } from 'node:url'
import { unless } from '@portcullis/domain/testing'
import type { previewPolicy, ResponseOf } from '@portcullis/features/contract.ts'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { build } from 'vite'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { openWindow, sharedBrowser, whyNoChromium } from '../proof/kit/browser.ts'

// The components run in a real browser without a server. `console/test/scenes.tsx` replaces the API.

const origin = 'http://components.test'
const folder = fileURLToPath(new URL('../console/', import.meta.url))
const shell = (css: string) =>
  `<!doctype html><html lang="en"><head><title>Scenes</title><style>${css}</style></head><body><div id="root"></div><script type="module" src="/scenes.js"></script></body></html>`

/** Builds the scenes as one script and one stylesheet. */
const buildScenes = async () => {
  const result = await build({
    root: folder,
    configFile: `${folder}vite.config.ts`,
    logLevel: 'error',
    build: {
      write: false,
      minify: false,
      reportCompressedSize: false,
      rollupOptions: { input: `${folder}test/scenes.tsx`, output: { codeSplitting: false } },
    },
  })
  const { output } = (Array.isArray(result) ? result[0] : result) as {
    output: { fileName: string; type: 'chunk' | 'asset'; code?: string; source?: string | Uint8Array }[]
  }
  const chunk = output.find(({ type }) => type === 'chunk')
  const css = output.find(({ fileName }) => fileName.endsWith('.css'))
  return { script: chunk?.code ?? '', css: String(css?.source ?? '') }
}

const none = { agents: 0, peripherals: 0, attackTools: 0 }
const noDevices = { agents: 0, peripherals: 0, attachments: 0 }
const nothing = { agents: 0, peripherals: 0 }
const takesEffect = { now: { agents: 1, peripherals: 1 }, whenArmed: nothing, never: nothing }
const at = '2026-01-01T00:00:00.000Z'
const preview: ResponseOf<typeof previewPolicy> = {
  computedAt: at,
  agents: 1,
  armedAgents: 1,
  peripherals: 1,
  matching: { agents: 1, armedAgents: 1, peripherals: 1, takesEffect },
  allowed: 0,
  blocked: 0,
  blockedNow: 0,
  worksAgain: none,
  newlyAllowed: 0,
  effects: [],
  brokenTests: [],
  warnings: [],
  secondPerson: false,
  prediction: {
    computedAt: at,
    from: at,
    to: at,
    agents: 1,
    peripherals: 1,
    isEveryDevice: true,
    attachments: 1,
    blocked: noDevices,
    changed: noDevices,
    takesEffect,
    newlyAllowed: none,
    newlyBlocked: none,
    worksAgain: none,
    stopsWorking: none,
  },
}

interface Open {
  answers?: Record<string, unknown>
}

describe('components of the console', unless(whyNoChromium), () => {
  let browser: Browser
  let scenes: Awaited<ReturnType<typeof buildScenes>>
  let context: BrowserContext | undefined
  let wrong: string[] = []

  beforeAll(async () => {
    ;[browser, scenes] = await Promise.all([sharedBrowser(), buildScenes()])
  })
  afterEach(async () => {
    await context?.close()
    expect(wrong).toEqual([])
  })

  const open = async (scene: string, { answers = {} }: Open = {}): Promise<Page> => {
    const window = await openWindow(browser, origin, 1200, 700)
    context = window.context
    wrong = window.wrong
    await window.page.addInitScript((given) => Object.assign(globalThis, { answers: given }), answers)
    await window.page.route('**/*', (route) =>
      route.request().url().endsWith('.js')
        ? route.fulfill({ contentType: 'text/javascript', body: scenes.script })
        : route.fulfill({ contentType: 'text/html', body: shell(scenes.css) }),
    )
    await window.page.goto(`${origin}/#${scene}`)
    return window.page
  }
  const read = <T>(page: Page, name: string): Promise<T> =>
    page.evaluate((key) => (globalThis as unknown as Record<string, T>)[key] as T, name)
  const callsOf = async (page: Page, operation: string): Promise<unknown[]> =>
    (await read<[string, unknown][]>(page, 'calls')).filter(([id]) => id === operation).map(([, input]) => input)
  const address = (page: Page) => read<string>(page, 'address')
  const cursorRow = (page: Page) => page.locator('[role=row][data-cursor]')
  const focused = (page: Page) =>
    page.evaluate('document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent')

  describe('the table', () => {
    const grid = (page: Page) => page.getByRole('grid', { name: 'Rows' })
    const row = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text })

    it('moves the cursor by keyboard, and announces the row to screen readers', async () => {
      const page = await open('table')
      await row(page, 'row 3').first().waitFor()
      await page.keyboard.press('j')
      await page.keyboard.press('j')
      await page.keyboard.press('ArrowDown')
      await page.keyboard.press('k')
      expect(await cursorRow(page).textContent()).toContain('row 1')
      expect(await grid(page).getAttribute('aria-activedescendant')).toBe(await cursorRow(page).getAttribute('id'))
      expect(await cursorRow(page).getAttribute('aria-rowindex')).toBe('3')
      await page.keyboard.press('Escape')
      await cursorRow(page).waitFor({ state: 'detached' })
    })

    it('loads the end of a long list on End, and its start on Home', async () => {
      const page = await open('table')
      await row(page, 'row 3').first().waitFor()
      await page.keyboard.press('End')
      await row(page, 'row 999').waitFor()
      expect(await cursorRow(page).textContent()).toContain('row 999')
      expect(await read<number[]>(page, 'loads')).toContain(10)
      await page.keyboard.press('Home')
      expect(await cursorRow(page).textContent()).toContain('row 0')
    })

    it('stores the open row in the address, follows the cursor, and closes on Escape', async () => {
      const page = await open('table')
      await row(page, 'row 3').first().waitFor()
      await page.keyboard.press('j')
      await page.keyboard.press('Enter')
      await expect.poll(() => address(page)).toBe('?open=0')
      await page.keyboard.press('j')
      await expect.poll(() => address(page)).toBe('?open=1')
      await row(page, 'row 4').click()
      await expect.poll(() => address(page)).toBe('?open=4')
      await page.keyboard.press('Escape')
      await expect.poll(() => address(page)).toBe('')
    })

    it('selects a row, a range with shift, and clears the selection', async () => {
      const page = await open('table')
      await row(page, 'row 3').first().waitFor()
      const selected = page.getByLabel('Selected')
      await page.keyboard.press('j')
      await page.keyboard.press('x')
      await expect.poll(() => selected.textContent()).toBe('1')
      await row(page, 'row 5')
        .getByRole('checkbox')
        .click({ modifiers: ['Shift'] })
      await expect.poll(() => selected.textContent()).toBe('6')
      await page.getByLabel('Clear selection').click()
      await expect.poll(() => selected.textContent()).toBe('0')
    })

    it('keeps rows in place while some are selected, also for a range and after an action', async () => {
      const page = await open('table')
      const selected = page.getByLabel('Selected')
      await row(page, 'row 3').first().getByRole('checkbox').click()
      const shown = page.getByRole('row').nth(4)
      await page.evaluate(`total += 1; rowText = (index) => (index === 0 ? 'new row' : 'row ' + (index - 1)); reread()`)
      await page.mouse.move(0, 0)
      const line = page.getByRole('button', { name: '1 new row. Rows stay in place while some are selected.' })
      await line.waitFor()
      expect(await shown.textContent()).toContain('row 3')
      await row(page, 'row 5')
        .getByRole('checkbox')
        .click({ modifiers: ['Shift'] })
      await expect.poll(() => selected.textContent()).toBe('3')
      for (const text of ['row 3', 'row 4', 'row 5'])
        expect(await row(page, text).first().getAttribute('aria-selected')).toBe('true')
      await line.click()
      await row(page, 'new row').waitFor()
      expect(await row(page, 'new row').getAttribute('aria-selected')).toBe('false')
      expect(await selected.textContent()).toBe('3')
    })

    it('sorts in the natural direction, then the other, then the default order', async () => {
      const page = await open('table')
      await row(page, 'row 3').first().waitFor()
      const size = page.getByRole('columnheader', { name: 'Size' })
      await size.getByRole('button').click()
      await expect.poll(() => address(page)).toBe('?sort=size_desc')
      expect(await size.getAttribute('aria-sort')).toBe('descending')
      await row(page, 'row 3, size_desc').waitFor()
      await size.getByRole('button').click()
      await expect.poll(() => address(page)).toBe('?sort=size_asc')
      await size.getByRole('button').click()
      await expect.poll(() => address(page)).toBe('')
    })

    it('updates values in place, highlights them, and keeps the cursor', async () => {
      const page = await open('table')
      await row(page, 'row 3').first().waitFor()
      await page.keyboard.press('j')
      await page.evaluate(`rowText = (index) => 'fresh ' + index; announce()`)
      await row(page, 'fresh 3').waitFor()
      expect(await page.locator('[role=row][data-marked]').count()).toBeGreaterThan(0)
      expect(await cursorRow(page).textContent()).toContain('fresh 0')
    })
  })

  describe('new rows', () => {
    const grow = `total += 1; rowText = (index) => (index === 0 ? 'new row' : 'row ' + (index - 1)); announce()`

    it('wait while the pointer is on the list or on their button, and appear on click', async () => {
      const page = await open('table')
      const row = (text: string) => page.getByRole('row').filter({ hasText: text })
      await row('row 3').first().hover()
      await page.evaluate(grow)
      const button = page.getByRole('button', { name: '1 new row Show' })
      await button.hover()
      expect(await row('new row').count()).toBe(0)
      await button.click()
      await row('new row').waitFor()
    })

    it('appear when the pointer leaves the list', async () => {
      const page = await open('table')
      const row = (text: string) => page.getByRole('row').filter({ hasText: text })
      await row('row 3').first().hover()
      await page.evaluate(grow)
      await page.getByRole('button', { name: '1 new row Show' }).waitFor()
      await page.getByLabel('Name or size').hover()
      await row('new row').waitFor()
    })
  })

  describe('the filters', () => {
    it('sets a text filter by keyboard, and removes it', async () => {
      const page = await open('table')
      await page.getByRole('button', { name: 'Filter', exact: true }).click()
      await page.getByRole('menuitem', { name: 'Name' }).click()
      const field = page.getByLabel('Name contains')
      await field.waitFor()
      await expect.poll(() => field.evaluate((element) => element.matches(':focus'))).toBe(true)
      await page.keyboard.type('alpha')
      await page.keyboard.press('Enter')
      await expect.poll(() => address(page)).toBe('?name=alpha')
      await page.getByRole('button', { name: 'Name: “alpha”' }).waitFor()
      await field.waitFor({ state: 'detached' })
      await page.getByLabel('Remove filter Name').click()
      await expect.poll(() => address(page)).toBe('')
    })

    it('combines choices with commas, and offers to clear two filters at once', async () => {
      const page = await open('table')
      await page.getByRole('button', { name: 'Filter', exact: true }).click()
      await page.getByRole('menuitem', { name: 'State' }).click()
      await page.getByLabel('On', { exact: true }).check()
      await page.getByLabel('Off', { exact: true }).check()
      await expect.poll(() => address(page)).toBe('?state=on,off')
      await page.getByRole('button', { name: 'State: On or Off' }).waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('button', { name: 'Filter', exact: true }).click()
      await page.getByRole('menuitem', { name: 'Present' }).click()
      await page.getByLabel('Yes').click()
      await expect.poll(() => address(page)).toBe('?state=on,off&present=true')
      await page.getByRole('button', { name: 'Clear filters', exact: true }).click()
      await expect.poll(() => address(page)).toBe('')
    })

    it('searches after a pause in typing; slash focuses the field and Escape leaves it', async () => {
      const page = await open('table')
      await page.getByRole('row').filter({ hasText: 'row 3' }).first().waitFor()
      await page.keyboard.press('/')
      expect(await focused(page)).toBe('Name or size')
      await page.keyboard.type('jx')
      await expect.poll(() => address(page)).toBe('?q=jx')
      await page.keyboard.press('Escape')
      expect(await focused(page)).not.toBe('Name or size')
      await page.getByLabel('Clear search').click()
      await expect.poll(() => address(page)).toBe('')
    })

    it('shows that nothing matches, and clears the filters', async () => {
      const page = await open('table')
      await page.getByRole('button', { name: 'Filter', exact: true }).click()
      await page.getByRole('menuitem', { name: 'Name' }).click()
      await page.getByLabel('Name contains').fill('none')
      await page.keyboard.press('Enter')
      await page.getByText('No rows match these filters.').waitFor()
      await page.getByRole('button', { name: 'Clear filters' }).click()
      await page.getByRole('row').filter({ hasText: 'row 3' }).first().waitFor()
    })
  })

  describe('the verdict on a device', () => {
    const note = 'Not examined: descriptors, HID report descriptors, speed (missing from the report of the host).'
    it('names the evidence that was not examined, if any', async () => {
      const page = await open('not-examined')
      await page.getByText(note).waitFor()
      const examined = await open('examined')
      await examined.getByText('Allowed by default').waitFor()
      expect(await examined.getByText('Not examined').count()).toBe(0)
    })
  })

  describe('the acceptance of a finding', () => {
    const answers = {
      acceptFinding: { acceptance: null, finding: 'Some tool', evidence: ['types by itself'], hosts: 3, version: null },
    }
    it('asks for a reason, shows the hosts and sends it, by keyboard', async () => {
      const page = await open('suspected', { answers })
      await page.getByText('To allow it, accept the finding, then approve the device.').waitFor()
      await page.getByRole('button', { name: 'Accept finding…' }).focus()
      await page.keyboard.press('Enter')
      const dialog = page.getByRole('dialog')
      await dialog.getByText('Affects 3 hosts').waitFor()
      await dialog.getByText('types by itself').waitFor()
      expect(await dialog.getByRole('button', { name: 'Accept finding' }).isDisabled()).toBe(true)
      await dialog.getByLabel('Reason').focus()
      await page.keyboard.type('our own pad')
      await page.keyboard.press('Enter')
      await expect.poll(() => callsOf(page, 'acceptFinding')).toHaveLength(2)
      expect((await callsOf(page, 'acceptFinding'))[1]).toMatchObject({ body: { reason: 'our own pad' } })
    })

    it('shows who accepted it, and can be revoked', async () => {
      const page = await open('accepted', { answers: { revokeAcceptedFinding: { version: 9 } } })
      await page.getByText('Accepted by ada: our own pad').waitFor()
      // A long word of the evidence wraps.
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
      await page.getByRole('button', { name: 'Revoke acceptance…' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel('Reason').fill('sold')
      await page.keyboard.press('Enter')
      await expect.poll(() => callsOf(page, 'revokeAcceptedFinding')).toHaveLength(1)
      expect(await callsOf(page, 'revokeAcceptedFinding')).toMatchObject([
        { params: { id: 'a1' }, query: { reason: 'sold' } },
      ])
    })
  })

  describe('the decision form', () => {
    const answers = { previewPolicy: preview, decideDevices: { version: 7, isChanged: true }, getHashtags: [] }
    const isDisabled = (page: Page, name: string) => page.getByRole('button', { name }).isDisabled()

    it('decides on one host with the serial number, without a reason, by keyboard alone', async () => {
      const page = await open('decide', { answers })
      await expect.poll(() => isDisabled(page, 'Approve on this host')).toBe(false)
      await page.getByLabel('Reason').focus()
      await page.keyboard.press('Enter')
      await expect.poll(() => callsOf(page, 'close')).toHaveLength(1)
      expect(await callsOf(page, 'decideDevices')).toEqual([
        {
          body: {
            decision: 'allow',
            devices: [{ uuid: '00000000-0000-4000-8000-000000000001', vid: '0781', pid: '5567', serialNumber: 'S1' }],
            reason: '',
          },
        },
      ])
      await page.getByText('Approved on 1 host.').waitFor()
      await page.getByRole('button', { name: 'Undo' }).waitFor()
    })

    it('requires a written reason for two hosts, and sends one decision', async () => {
      const page = await open('decide-hosts', { answers })
      expect(await isDisabled(page, 'Approve on 2 hosts')).toBe(true)
      await page.getByLabel('Reason').fill('The lab opens')
      await page.getByRole('button', { name: 'Approve on 2 hosts' }).click()
      await expect
        .poll(() => callsOf(page, 'decideDevices'))
        .toMatchObject([{ body: { decision: 'allow', devices: [{}, {}], reason: 'The lab opens' } }])
    })

    it('approves an attack tool only with override and reason, and denies it directly', async () => {
      const page = await open('decide-attack-tool', { answers })
      await page.getByLabel('Reason').fill('A test')
      expect(await isDisabled(page, 'Approve on this host')).toBe(true)
      await page.getByLabel('Allow despite attack-tool finding').check({ force: true })
      await expect.poll(() => isDisabled(page, 'Approve on this host')).toBe(false)
      await page.getByText('Deny', { exact: true }).click()
      await page.getByRole('button', { name: 'Deny on this host' }).click()
      await expect.poll(() => callsOf(page, 'decideDevices')).toMatchObject([{ body: { decision: 'deny' } }])
      expect(JSON.stringify(await callsOf(page, 'decideDevices'))).not.toContain('overrideAttackTool')
    })

    it('keeps the input if the server refuses', async () => {
      const { decideDevices: _, ...others } = answers
      const page = await open('decide', { answers: others })
      await page.getByLabel('Reason').fill('Kept')
      await page.keyboard.press('Enter')
      await page.getByText('no answer for decideDevices').waitFor()
      expect(await page.getByLabel('Reason').inputValue()).toBe('Kept')
      expect(await callsOf(page, 'close')).toEqual([])
    })
  })

  describe('the rule editor', () => {
    const answers = {
      previewPolicy: preview,
      createPolicyRule: { version: 3 },
      getHashtags: [],
      getPeripheralModels: { recordsTotal: 0, recordsFiltered: 0, data: [] },
    }

    it('focuses the first invalid field, and sends no request', async () => {
      const page = await open('rule', { answers })
      await page.getByLabel('Vendor ID').fill('78')
      await page.getByRole('button', { name: 'Add rule' }).click()
      await page.getByText('Enter four hex digits, such as 0781.').waitFor()
      await expect.poll(() => page.getByLabel('Vendor ID').evaluate((field) => field.matches(':focus'))).toBe(true)
      expect(await callsOf(page, 'createPolicyRule')).toEqual([])
    })

    it('shows missing fields only after the first attempt to save', async () => {
      const page = await open('rule', { answers })
      await page.getByLabel('Vendor ID').fill('0781')
      await page.getByText('All hosts', { exact: true }).click()
      const missing = page.getByText('Enter a reason. It is shown with every decision')
      expect(await missing.count()).toBe(0)
      await page.getByRole('button', { name: 'Add rule' }).click()
      await missing.waitFor()
    })

    it('previews a rule while it is edited, and saves it with Ctrl+Enter', async () => {
      const page = await open('rule', { answers })
      await page.getByLabel('Vendor ID').fill('0781')
      await page.getByText('All hosts', { exact: true }).click()
      await expect.poll(async () => (await callsOf(page, 'previewPolicy')).length).toBeGreaterThan(0)
      await page.getByLabel('Reason').fill('Sticks of the lab')
      await page.keyboard.press('Control+Enter')
      await expect.poll(() => callsOf(page, 'close')).toHaveLength(1)
      expect(await callsOf(page, 'createPolicyRule')).toMatchObject([
        { body: { effect: 'allow', vid: '0781', pid: null, reason: 'Sticks of the lab' } },
      ])
      await page.getByText('Rule added.').waitFor()
    })

    it('asks before a rule that allows devices on two hosts, and focuses Cancel', async () => {
      const wide = { ...preview, allowed: 2, agents: 2, newlyAllowed: 2 }
      const page = await open('rule', { answers: { ...answers, previewPolicy: wide } })
      await page.getByLabel('Vendor ID').fill('0781')
      await page.getByText('All hosts', { exact: true }).click()
      await page.getByLabel('Reason').fill('Sticks of the lab')
      await page.getByRole('button', { name: 'Add rule' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByText('Allow devices on 2 hosts').waitFor()
      await page.locator('[role=dialog] button:has-text("Cancel"):focus').waitFor()
      expect(await callsOf(page, 'createPolicyRule')).toEqual([])
      await dialog.getByRole('button', { name: 'Add rule' }).click()
      await expect.poll(() => callsOf(page, 'createPolicyRule')).toHaveLength(1)
    })

    it('shows disabled fields and no save button without write permission', async () => {
      const page = await open('rule-read', { answers })
      await page.getByText('You can view rules. To change them, you need the Manager profile.').waitFor()
      expect(await page.getByLabel('Vendor ID').isDisabled()).toBe(true)
      expect(await page.locator('button[type=submit]').count()).toBe(0)
    })
  })
})
