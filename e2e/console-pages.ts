import { plainKeyboard, rubberDucky, storageStick } from '@portcullis/domain/testing'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import type { TestApp } from '../server/test/app.ts'
import { enrolAgent } from '../server/test/builders.ts'
import type { ServerCalls } from './harness.ts'

/** Every page of the console; HOST is the id of a host. */
export const consolePages = [
  '/',
  '/agents',
  '/agents?open=HOST',
  '/agents/HOST',
  '/agents/HOST?tab=devices',
  '/agents/HOST?tab=policy',
  '/agentless',
  '/quarantines',
  '/peripherals',
  '/peripherals/models',
  '/insights',
  '/rollouts',
  '/rollouts/new',
  '/commands',
  '/approvals',
  '/policy',
  '/policy/grants',
  '/policy/simulator',
  '/policy/history',
  '/policy/settings',
  '/policy/requests',
  '/reports',
  '/reports/history',
  '/reports/new',
  '/events',
  '/notices',
  '/notices?tab=health',
  '/settings',
  '/settings/profile',
  '/settings/sessions',
  '/settings/tokens',
  '/settings/accounts',
  '/settings/enrolment',
  '/settings/tags',
  '/settings/packages',
  '/settings/knowledge',
  '/settings/assets',
  '/settings/health',
  '/settings/health/history',
  '/settings/audit',
  '/settings/audit?open=1',
  '/settings/deliveries',
  '/settings/notifications',
  '/settings/mail',
  '/settings/directory',
  '/settings/backups',
  '/nowhere',
]

/** Enrols a host with a keyboard, a storage stick and an attack tool, and returns its id. */
export const enrolDesk = async (server: ServerCalls): Promise<string> => {
  const at = { address: server.url, clock: { now: () => Date.now() } } as unknown as TestApp
  const desk = await enrolAgent(at, {
    token: await server.enrolmentToken(),
    facts: { hostname: 'front-desk' },
    devices: [plainKeyboard({ portPath: '1-1' }), storageStick({ portPath: '1-2' }), rubberDucky({ portPath: '2-1' })],
  })
  return desk.agentId
}

/** Waits until a page shows its heading and has finished loading. */
export const settled = async (page: Page): Promise<void> => {
  await page.locator('h1').first().waitFor()
  await expect.poll(() => page.locator('[aria-busy=true]').count()).toBe(0)
}
