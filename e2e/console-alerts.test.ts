import {
  hostileTexts,
  plainKeyboard,
  rubberDucky,
  storageStick,
  unifyingReceiver1207,
  unless,
} from '@portcullis/domain/testing'
import type { AlertCounts } from '@portcullis/features/contract.ts'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { openWindow, sharedBrowser, whyNoChromium } from '../proof/kit/browser.ts'
import { adminPassword } from '../proof/kit/harness.ts'
import type { TestApp } from '../server/test/app.ts'
import { enrolAgent, type TestAgent } from '../server/test/builders.ts'
import { startWebhookReceiver } from '../server/test/peers/webhook-receiver.ts'
import { type ConsoleServer, startConsoleServer } from './console-server.ts'

describe('alerts', unless(whyNoChromium), () => {
  let server: ConsoleServer
  let browser: Browser
  let host: TestAgent
  let receiver: Awaited<ReturnType<typeof startWebhookReceiver>>
  let page: Page
  let wrong: string[]
  const keyboard = plainKeyboard({ portPath: '1-1' })

  beforeAll(async () => {
    server = await startConsoleServer({ outboundAllow: ['127.0.0.0/8'] })
    browser = await sharedBrowser()
    receiver = await startWebhookReceiver()
    const token = await server.enrolmentToken()
    // The members of a test app that the builder uses if it has a token.
    const at = { address: server.url, clock: { now: () => Date.now() } } as unknown as TestApp
    host = await enrolAgent(at, { token, devices: [keyboard], facts: { hostname: 'front-desk' } })
    ;({ page, wrong } = await openWindow(browser, server.url, 1440, 900))
    await page.goto('/alerts')
    await page.getByLabel('User name').fill('admin')
    await page.getByLabel('Password', { exact: true }).fill(adminPassword)
    await page.getByRole('button', { name: 'Sign in' }).click()
  })
  afterEach(() => expect(wrong.splice(0)).toEqual([]))
  afterAll(async () => {
    await server?.stop()
    await receiver?.close()
  })

  const bell = (unread: number) =>
    page.getByRole('button', { name: unread === 0 ? 'Alerts, none unread' : `Alerts, ${unread} unread` })
  const rail = () => page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Alerts' })
  const rows = () => page.getByRole('grid', { name: 'Risk alerts' }).getByRole('row')
  const row = (text: string) => rows().filter({ hasText: text })
  const drawer = () => page.getByRole('complementary', { name: 'Alert' })
  const counts = () => server.get<AlertCounts>('systemNotification')

  it('explain their triggers while the list is empty', async () => {
    await page.getByText('No alerts').waitFor()
    await bell(0).waitFor()
    expect(await rail().innerText()).toBe('Alerts')
    await bell(0).click()
    const panel = page.getByRole('region', { name: 'Most severe alerts' })
    await panel.getByText(/Attack tools, blocked devices/).waitFor()
    await page.keyboard.press('Escape')
    await panel.waitFor({ state: 'detached' })
  })

  it('appear in bell, navigation and inbox without a reload, show their cause, and are pinned and closed', async () => {
    await page.evaluate('window.stillTheSame = true')
    await host.plug(rubberDucky({ portPath: '1-2', product: hostileTexts.html }))
    await bell(1).waitFor()
    expect(await rail().innerText()).toMatch(/^Alerts\s*1$/)
    await row('front-desk').waitFor()
    await row(hostileTexts.html).getByRole('img', { name: 'Unread' }).waitFor()
    expect(await page.evaluate('window.stillTheSame')).toBe(true)
    expect(await counts()).toMatchObject({ riskNotifications: 1, riskUnread: 1 })

    await bell(1).click()
    const panel = page.getByRole('region', { name: 'Most severe alerts' })
    await panel.getByText(hostileTexts.html).click()
    await panel.waitFor({ state: 'detached' })
    await page.waitForURL(/\/alerts\?open=\d+$/)
    const why = drawer().getByRole('region', { name: 'Why' })
    await why.getByText(/on the list of attack tools/).waitFor()
    await drawer()
      .getByRole('region', { name: 'Events' })
      .getByRole('listitem')
      .first()
      .getByText('front-desk')
      .waitFor()
    await drawer()
      .getByRole('region', { name: 'Notifications' })
      .getByText(/Nobody was notified/)
      .waitFor()
    expect(await drawer().getByRole('link', { name: 'Open host', exact: true }).getAttribute('href')).toBe(
      `/agents/${host.agentId}`,
    )

    await page.keyboard.press('p')
    await drawer().getByRole('button', { name: 'Unpin' }).waitFor()
    await page.keyboard.press('Escape')
    await drawer().waitFor({ state: 'detached' })
    await row('front-desk').getByRole('button', { name: 'Unpin' }).waitFor()

    // Keys do nothing without a selection.
    await page.keyboard.press('r')
    await page.getByRole('button', { name: 'Mark all as read' }).click()
    await bell(0).waitFor()
    await row('front-desk').getByRole('img', { name: 'Unread' }).waitFor({ state: 'detached' })
    expect(await counts()).toMatchObject({ riskNotifications: 1, riskUnread: 0 })

    // A key opens the dialog, and changes nothing for others. A critical alert needs a verdict.
    await page.keyboard.press('j')
    await page.keyboard.press('d')
    await page.keyboard.press('c')
    const dialog = page.getByRole('dialog', { name: 'Close alert' })
    await dialog.getByText('Required for alerts that are Critical or above.').waitFor()
    expect(await dialog.getByRole('button', { name: 'Close alert' }).isDisabled()).toBe(true)
    expect(await counts()).toMatchObject({ riskNotifications: 1 })
    await dialog.getByRole('radio', { name: 'Test' }).check()
    await dialog.getByLabel('Comment').fill(hostileTexts.html)
    await dialog.getByRole('button', { name: 'Close alert' }).click()
    await page.getByText('No alerts').waitFor()
    expect(await counts()).toMatchObject({ total: 0, riskNotifications: 0 })
    await page.getByRole('button', { name: 'Undo' }).click()
    await row('front-desk').waitFor()

    await row('front-desk').click()
    await drawer().getByRole('link', { name: 'Open full page' }).click()
    await page.waitForURL(/\/alerts\/\d+$/)
    const history = page.getByRole('region', { name: 'History' })
    await history.getByText('closed the alert as Test').waitFor()
    await history.getByLabel('Comment').fill('Asked the user')
    await history.getByRole('button', { name: 'Add comment' }).click()
    await history.getByText('Asked the user').waitFor()
    await page.getByRole('button', { name: 'Assign' }).click()
    await page.getByRole('menuitem', { name: 'To me' }).click()
    await history.getByText('assigned the alert to admin').waitFor()
    await page.getByRole('button', { name: 'Snooze' }).click()
    await page.getByRole('menuitem', { name: 'For an hour' }).click()
    await history.getByText(/snoozed the alert until/).waitFor()
    expect(await counts()).toMatchObject({ riskNotifications: 0 })
    await page.getByRole('link', { name: 'Alerts', exact: true }).last().click()
    await page.getByText('No alerts').waitFor()
    await page.goto('/alerts?state=snoozed')
    await row('front-desk').getByText('admin').waitFor()
    await row('front-desk').getByRole('button', { name: 'Close…' }).click()
    await dialog.getByRole('radio', { name: 'True positive' }).check()
    await dialog.getByRole('button', { name: 'Close alert' }).click()
    await page.getByText('No alerts match these filters').waitFor()
    expect(await page.locator('img[src="x"]').count()).toBe(0)
  })

  it('are sent by webhook: errors are shown at their field, a test shows its steps, the secret is shown once', async () => {
    await page.goto('/settings/notifications')
    const cards = page.getByRole('main').getByRole('listitem')
    await cards.filter({ hasText: 'copied agent keys' }).getByText('No recipients.').waitFor()
    expect(await cards.getByRole('heading').allInnerTexts()).toHaveLength(7)
    await page.getByText(/No mail server is set up/).waitFor()
    await page.getByRole('link', { name: 'Attacks' }).click()
    await page.waitForURL('/settings/notifications/1')

    const mail = page.getByRole('region', { name: 'Email' })
    const recipients = mail.getByLabel('Recipients')
    await recipients.fill('soc@example.org\nnobody')
    await mail.getByText('Not an email address: nobody').waitFor()
    await recipients.fill(Array.from({ length: 51 }, (_, n) => `m${n}@example.org`).join('\n'))
    await mail.getByText(/51 recipients exceed the limit of 50/).waitFor()
    await recipients.fill('')

    const webhook = page.getByRole('region', { name: 'Webhook' })
    const url = webhook.getByLabel('URL')
    const test = webhook.getByRole('button', { name: 'Send test' })
    await url.fill('http://169.254.169.254/latest/meta-data')
    await test.click()
    await webhook.getByText('Not tested. Correct the highlighted fields first.').waitFor()
    expect(await url.getAttribute('aria-invalid')).toBe('true')
    expect(await webhook.innerText()).toMatch(/169\.254\.169\.254/)
    await url.fill('not an address')
    await test.click()
    await webhook.getByText('It must start with https://.').waitFor()

    await url.fill(receiver.url)
    await test.click()
    await webhook.getByText('The receiver answered 204.').waitFor()
    await webhook.getByText('Test passed.').waitFor()
    expect(JSON.parse(receiver.seen[0]?.body ?? '')).toMatchObject({ type: 'test', data: { group: 'Attacks' } })

    const syslog = page.getByRole('region', { name: 'Syslog' })
    await syslog.getByLabel('Address').fill('a b')
    await webhook.getByRole('switch').check({ force: true })
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Not saved. Correct the highlighted fields.').waitFor()
    await syslog.getByText('It must be a host, host:port or [IPv6]:port.').waitFor()
    expect(await url.inputValue()).toBe(receiver.url)
    await syslog.getByLabel('Address').fill('')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    const fresh = page.getByRole('region', { name: 'New secret' })
    const secret = await fresh.getByText(/^whsec_/).innerText()
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/=]{32,}$/)
    await page.getByText(/The new webhook secret is shown above once/).waitFor()
    const isInSight = async () => {
      const { y = -1, height = 0 } = (await fresh.boundingBox()) ?? {}
      return y >= 0 && y + height <= 900
    }
    expect(await isInSight()).toBe(true)
    expect(await page.evaluate('document.activeElement?.getAttribute("aria-label")')).toBe('New secret')
    // The secret stays visible after another save and an attempt to leave, until it was copied.
    await page.getByLabel(/^Enabled/).click({ force: true })
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Saved.', { exact: true }).waitFor()
    await page.getByLabel(/^Enabled/).click({ force: true })
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Saved.', { exact: true }).waitFor()
    await page.getByRole('link', { name: 'All groups' }).click()
    await page.getByRole('dialog', { name: 'Leave without the secret?' }).getByRole('button', { name: 'Stay' }).click()
    expect(await fresh.getByText(/^whsec_/).innerText()).toBe(secret)
    expect(await isInSight()).toBe(true)
    await fresh.getByRole('button', { name: 'I have saved it' }).click()
    await fresh.waitFor({ state: 'detached' })
    // After leaving the page, the secret is never shown again.
    await page.getByRole('link', { name: 'All groups' }).click()
    await cards.filter({ hasText: 'copied agent keys' }).getByText(`Webhook: 127.0.0.1:${receiver.port}`).waitFor()
    await page.getByRole('link', { name: 'Attacks' }).click()
    await url.waitFor()
    expect(await page.content()).not.toContain(secret)
    expect(await fresh.count()).toBe(0)
    expect(await webhook.getByLabel('Secret', { exact: true }).getAttribute('placeholder')).toMatch(
      /leave blank to keep/,
    )
    // No events are sent by mail.
    await page.goto('/settings/notifications/6')
    await page.getByRole('region', { name: 'Syslog' }).waitFor()
    expect(await page.getByRole('region', { name: 'Email' }).count()).toBe(0)
  })

  it('stay with their reason after a refusal, and are sent again', async () => {
    receiver.state.always = { status: 400 }
    await page.goto('/settings/deliveries')
    await page.getByText('No deliveries yet').waitFor()
    // Notifications that wait for the end of quiet hours are visible before they become deliveries.
    const hour = (ahead: number) => new Date(Date.now() + ahead * 3_600_000).toISOString().slice(11, 16)
    const quietHours = { from: hour(-1), to: hour(2), timeZone: 'UTC', passSeverity: null }
    await server.post('systemNotification/notifications/update', { id: 1, quietHours })
    await host.unplug('1-2')
    await host.plug(rubberDucky({ portPath: '1-2', product: hostileTexts.html }))
    const later = page.getByRole('region', { name: 'Pending notifications' })
    await later.getByText(/^1 alert, quiet hours until/).waitFor()
    await server.post('systemNotification/notifications/update', { id: 1, quietHours: null })
    const sent = page.getByRole('grid', { name: 'Deliveries' }).getByRole('row').filter({ hasText: hostileTexts.html })
    await sent.getByText('refused').waitFor()
    await page.getByRole('link', { name: '1 stuck' }).click()
    await page.waitForURL(/isStuck=true/)
    await sent.click()
    const panel = page.getByRole('complementary', { name: 'Delivery' })
    await panel
      .getByRole('note')
      .getByText(/The webhook answered 400. Check its address/)
      .waitFor()
    receiver.state.always = { status: 204 }
    await panel.getByRole('button', { name: 'Send now' }).click()
    // The page updates without a reload.
    await panel.getByText('delivered', { exact: true }).waitFor()
    await later.waitFor({ state: 'detached' })
    await page.getByRole('link', { name: '1 stuck' }).waitFor({ state: 'detached' })
    expect(receiver.seen.at(-1)?.body).toContain('attackTool')
    expect(await page.locator('img[src="x"]').count()).toBe(0)

    // The same alert is raised again and shows who was notified.
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Alerts' }).click()
    await row('front-desk').click()
    await drawer()
      .getByRole('region', { name: 'Notifications' })
      .getByText(/Webhook to/)
      .waitFor()
    await drawer().getByRole('region', { name: 'Notifications' }).getByText('group Attacks, delivered').waitFor()
    await drawer().getByRole('link', { name: 'Open host', exact: true }).click()
    await page.waitForURL(`/agents/${host.agentId}`)
  })

  it('and their events are streamed to a SIEM, with errors, a test and a skip', async () => {
    await page.goto('/settings/notifications/6')
    const syslog = page.getByRole('region', { name: 'Syslog' })
    const webhook = page.getByRole('region', { name: 'Webhook' })
    await syslog.getByRole('switch').check({ force: true })
    await syslog.getByLabel('Address').fill('127.0.0.1:1')
    await syslog.getByLabel('Protocol').selectOption('tcp')
    await syslog.getByLabel('Format').selectOption('cef')
    await syslog.getByRole('button', { name: 'Send test' }).click()
    await syslog
      .getByText(/127.0.0.1:1 is unreachable or refuses connections/)
      .first()
      .waitFor()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Saved.', { exact: true }).waitFor()
    expect(await webhook.getByRole('switch').isChecked()).toBe(false)

    await page.goto('/settings/deliveries')
    const streams = page.getByRole('region', { name: 'Event streams' })
    await host.unplug('1-2')
    await streams.getByText('failed, retrying soon').waitFor()
    await streams.getByText(/127.0.0.1:1 is unreachable or refuses connections/).waitFor()
    await streams.getByText(/\d+ events? (is|are) pending/).waitFor()
    await streams.getByRole('button', { name: 'Try now' }).click()
    await page.getByText('Trying All events, Syslog now.').waitFor()
    await streams.getByRole('button', { name: 'Skip…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText(/^\d+ events?$/).waitFor()
    await dialog.getByText(/never sent to this receiver/).waitFor()
    await dialog.getByRole('button', { name: 'Skip events', exact: true }).click()
    await streams.getByText(/Nothing is pending/).waitFor()
    await host.plug(rubberDucky({ portPath: '1-2', product: hostileTexts.html }))
    await server.post('systemNotification/notifications/update', { id: 6, channels: { syslog: { isEnabled: false } } })
  })

  it('wait while the pointer is on the list, and many are closed at once with a verdict', async () => {
    await page.goto('/alerts?sort=lastTime_desc')
    await row('front-desk').waitFor()
    await row('front-desk').hover()
    const at = { address: server.url, clock: { now: () => Date.now() } } as unknown as TestApp
    const other = await enrolAgent(at, {
      token: await server.enrolmentToken(),
      devices: [keyboard],
      facts: { hostname: 'warehouse' },
    })
    await other.plug(unifyingReceiver1207({ portPath: '1-2' }))
    const waiting = page.getByRole('button', { name: '1 new row Show' })
    await waiting.waitFor()
    expect(await rows().count()).toBe(1)
    await waiting.click()
    await row('warehouse').waitFor()
    expect(await rows().nth(0).innerText()).toContain('warehouse')

    // Live values change in place: the row stays and its count increases.
    await row('front-desk').hover()
    for (let n = 0; n < 3; n++) {
      await host.unplug('1-2')
      await host.plug(rubberDucky({ portPath: '1-2', product: hostileTexts.html }))
    }
    await row('front-desk').getByText('6×', { exact: true }).waitFor()
    expect(await rows().nth(0).innerText()).toContain('warehouse')

    await page.keyboard.press('j')
    await page.keyboard.press('x')
    await page.keyboard.press('j')
    await page.keyboard.press('x')
    await page.keyboard.press('c')
    const dialog = page.getByRole('dialog', { name: 'Close 2 alerts' })
    await dialog.getByRole('radio', { name: 'Benign' }).check()
    await dialog.getByRole('button', { name: 'Close 2 alerts' }).click()
    await page.getByText('No alerts').waitFor()
    expect(await counts()).toMatchObject({ riskNotifications: 0 })
    // They are still available through the filter, with the person who closed them.
    await page.goto('/alerts?state=closed')
    await row('warehouse').click()
    await drawer()
      .getByRole('note')
      .getByText(/Closed by admin/)
      .waitFor()
    expect(await drawer().getByRole('button', { name: 'Pin' }).count()).toBe(0)
    await host.unplug('1-2')
    await host.plug(rubberDucky({ portPath: '1-2', product: hostileTexts.html }))
    await page.goto('/alerts')
    await row('front-desk').getByText('7×', { exact: true }).waitFor()
    await page.goto('/alerts?tab=health')
    await page.getByRole('link', { name: 'Details and remedies' }).waitFor()
  })

  it('are grouped by model, sorted by severity, name three hosts and offer the next step', async () => {
    const at = { address: server.url, clock: { now: () => Date.now() } } as unknown as TestApp
    const token = await server.enrolmentToken()
    const kiosks = await Promise.all(
      [1, 2, 3, 4, 5].map((n) => enrolAgent(at, { token, devices: [keyboard], facts: { hostname: `kiosk-${n}` } })),
    )
    await page.goto('/alerts')
    for (const kiosk of kiosks) await kiosk.plug(unifyingReceiver1207({ portPath: '1-3' }))
    const vulnerable = row('(vulnerable) on 5 hosts')
    await vulnerable.waitFor()
    // The attack tool is older, and more severe.
    expect(await rows().nth(0).innerText()).toContain('(attack tool) on front-desk')
    await page.getByLabel('Order').selectOption('Newest first')
    await page.waitForURL(/sort=lastTime_desc/)
    await expect.poll(() => rows().nth(0).innerText()).toContain('(vulnerable) on 5 hosts')
    await page.goBack()
    await expect.poll(() => rows().nth(0).innerText()).toContain('(attack tool) on front-desk')
    expect(await page.getByLabel('Order').inputValue()).toBe('severity_asc')

    expect(await vulnerable.getByRole('link', { name: /^kiosk-\d$/ }).count()).toBe(3)
    await vulnerable.getByRole('link', { name: '2 more' }).click()
    await page.waitForURL(/\/agents\?Alert=\d+$/)
    const hosts = page
      .getByRole('grid')
      .getByRole('row')
      .filter({ hasText: /kiosk-\d/ })
    await expect.poll(() => hosts.count()).toBe(5)
    await page.goBack()

    // No single key decides, and the dialog is the one of other pages.
    await vulnerable.waitFor()
    await page.keyboard.press('j')
    for (const key of ['a', 'b', 'g', 'f']) await page.keyboard.press(key)
    await page.keyboard.press('Escape')
    expect(await page.getByRole('dialog').count()).toBe(0)
    await page.goto('/alerts')
    await vulnerable.getByRole('button', { name: 'Deny…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('046D:C52B').waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await dialog.waitFor({ state: 'detached' })

    // A host in monitoring mode blocks nothing. Armed, it does, and the alert leads to the approval.
    const enforced = { effect: 'block' as const, source: 'default' as const, ruleId: null, policyVersion: 1 }
    const stick = { ...storageStick({ portPath: '1-4', serial: 'S1' }), authorized: false, enforced }
    await kiosks[0]?.checkIn({ enforcement: { mode: 'Armed', policyVersion: 1, reason: '' } })
    await kiosks[0]?.plug(stick)
    await page.getByRole('heading', { name: 'Alerts' }).hover()
    const blocked = row('(blocked by policy) on kiosk-1')
    await blocked.getByRole('button', { name: 'Approve…' }).click()
    await dialog.getByRole('button', { name: 'Approve on this host' }).click()
    await dialog.waitFor({ state: 'detached' })
    const rules = await server.get<{ data: { vid: string; level: string }[] }>('policy/rules?PageSize=100')
    expect(rules.data).toMatchObject([{ vid: '0781', level: 'host' }])

    // The bell and the overview begin with the most severe alert, too.
    await page.goto('/')
    const overview = page.getByRole('region', { name: 'Open alerts' }).getByRole('listitem')
    await overview
      .first()
      .getByText(/\(attack tool\) on front-desk/)
      .waitFor()
    await page.getByRole('button', { name: /^Alerts, / }).click()
    const panel = page.getByRole('region', { name: 'Most severe alerts' }).getByRole('listitem')
    await panel
      .first()
      .getByText(/\(attack tool\) on front-desk/)
      .waitFor()
    await page.keyboard.press('Escape')
  })

  it('lead to the acceptance of a suspected device, although only an ordinary one of its model is attached', async () => {
    const at = { address: server.url, clock: { now: () => Date.now() } } as unknown as TestApp
    const ids = { vid: '2341', pid: '8036', portPath: '1-2' }
    const board = rubberDucky({ ...ids, interfaces: ['02:02:01', '0a:00:00', '03:01:01'], remoteWakeup: false })
    const bench = await enrolAgent(at, { token: await server.enrolmentToken(), facts: { hostname: 'bench' } })
    await bench.plug(board)
    await bench.unplug('1-2')
    await bench.plug(storageStick(ids))
    await page.goto('/alerts')
    await row('(attack tool) on bench').getByRole('button', { name: 'Accept finding…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Accept finding' })
    await dialog.getByText('it combines a keyboard and a serial port').waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await dialog.waitFor({ state: 'detached' })
  })

  it('can be read and pinned, but not closed or configured, by a User', async () => {
    const password = 'nobody decides by looking'
    await server.post('admin/adduser', { userName: 'ada', userProfile: 30, password, mustChangePassword: false })
    const own = await openWindow(browser, server.url, 1024, 768)
    await own.page.goto('/alerts?kind=attackTool')
    await own.page.getByLabel('User name').fill('ada')
    await own.page.getByLabel('Password', { exact: true }).fill(password)
    await own.page.getByRole('button', { name: 'Sign in' }).click()
    const mine = own.page.getByRole('grid', { name: 'Risk alerts' }).getByRole('row')
    await mine.getByRole('button', { name: 'Pin', exact: true }).first().click()
    await mine.getByRole('button', { name: 'Unpin' }).waitFor()
    expect(await mine.getByRole('button', { name: 'Close…' }).count()).toBe(0)
    expect(await own.page.getByRole('checkbox').count()).toBe(0)
    await own.page.goto('/alerts?kind=keyClone')
    await own.page.getByText('No alerts match these filters').waitFor()
    await own.page.goto('/settings/notifications/1')
    await own.page.getByText('an Administrator can change them').waitFor()
    const region = own.page.getByRole('region', { name: 'Webhook' })
    expect(await region.getByLabel('URL').inputValue()).toBe(`http://127.0.0.1:${receiver.port}/********`)
    expect(await region.getByLabel('URL').isDisabled()).toBe(true)
    expect(await own.page.getByRole('button', { name: 'Send test' }).count()).toBe(0)
    expect(await own.page.getByRole('link', { name: 'Deliveries' }).count()).toBe(0)
    // Pages without permission say so once and send no requests.
    const asked: string[] = []
    own.page.on('request', (request) => asked.push(request.url()))
    for (const [path, title] of [
      ['/settings/deliveries', 'Deliveries'],
      ['/settings/mail', 'Mail'],
      ['/settings/history', 'Settings history'],
      ['/settings/thresholds', 'Health thresholds'],
      ['/settings/audit', 'Audit trail'],
      ['/reports', 'Reports'],
      ['/reports/history', 'Reports'],
    ]) {
      await own.page.goto(path as string)
      await own.page.getByRole('heading', { name: `${title} requires the Manager profile` }).waitFor()
      expect(await own.page.getByRole('alert').count(), path).toBe(0)
    }
    await own.page.goto('/settings/enrolment')
    await own.page.getByRole('heading', { name: 'Add a host requires the Administrator profile' }).waitFor()
    await own.page.getByText('Your account has the User profile.').waitFor()
    const refused = /\/prime\/webui\/.*(deliveries|outputs|generalconfig|reports|audit|enrol)/i
    expect(asked.filter((url) => refused.test(url))).toEqual([])
    expect(asked.some((url) => url.includes('/prime/webui/'))).toBe(true)
    const beyond = await own.page.evaluate<number>('document.documentElement.scrollWidth - window.innerWidth')
    expect(beyond).toBeLessThanOrEqual(0)
    expect(own.wrong).toEqual([])
    await own.context.close()
  })
})
