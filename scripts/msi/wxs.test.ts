import { describe, expect, it } from 'vitest'
import { describePackage } from './wxs.ts'

describe('the programs of the Windows installer', () => {
  it('run as LocalSystem only in an installation or removal, which only administrators can start', () => {
    const text = describePackage({ version: '1.0.0', contents: '', files: [] })
    const privileged = [...text.matchAll(/<CustomAction Id="(\w+)"[^>]* Impersonate="no"/g)].map(([, id]) => id)
    const conditions = privileged.map((id) => new RegExp(`<Custom Action="${id}"[^>]*>([^<]*)<`).exec(text)?.[1])
    expect(privileged).toEqual(['Configure', 'RollBack', 'Purge'])
    expect(conditions).toEqual(['NOT Installed', 'NOT Installed', 'REMOVE="ALL" AND NOT UPGRADINGPRODUCTCODE'])
    expect(text).toMatch(/<CustomAction Id="Reconfigure"[^>]* Impersonate="yes"/)
  })
})
