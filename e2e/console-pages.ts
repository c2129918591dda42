import { plainKeyboard, rubberDucky, storageStick } from '@portcullis/domain/testing'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import type { ServerCalls } from '../proof/kit/harness.ts'
import type { TestApp } from '../server/test/app.ts'
import { enrolAgent } from '../server/test/builders.ts'

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
