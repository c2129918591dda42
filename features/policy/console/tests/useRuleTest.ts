import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { confirm } from '@portcullis/platform/console/ui/confirm.ts'
import { useChange } from '@portcullis/platform/console/ui/form/useChange.ts'
import { tell } from '@portcullis/platform/console/ui/tell.ts'
import { useState } from 'react'
import { createRuleTest, deleteRuleTest, type RuleTest, type RuleTestBody, updateRuleTest } from '#features/contract.ts'
import type { PolicyKind } from '../shared/rule-draft.ts'
import { strings } from './strings.ts'

export interface TestDraft {
  name: string
  expected: 'allow' | 'block'
  vid: string
  pid: string
  serial: string
  fingerprint: string
  kinds: readonly PolicyKind[]
  isAttackTool: boolean
  scope: '' | 'all' | 'tag' | 'host'
  host: string
  tag: string
}

const draftOfTest = (body: RuleTestBody | null): TestDraft => ({
  name: body?.name ?? '',
  expected: body?.expected ?? 'allow',
  vid: body?.vid ?? '',
  pid: body?.pid ?? '',
  serial: body?.serial ?? '',
  fingerprint: body?.fingerprint ?? '',
  kinds: body?.kinds ?? [],
  isAttackTool: body?.isAttackTool ?? false,
  scope: body === null || body.host !== null ? 'host' : body.tag !== null ? 'tag' : 'all',
  host: body?.host ?? '',
  tag: body?.tag ?? '',
})

const bodyOf = (draft: TestDraft): RuleTestBody => ({
  ...{ name: draft.name.trim(), expected: draft.expected, vid: draft.vid, pid: draft.pid, serial: draft.serial },
  kinds: [...draft.kinds],
  fingerprint: draft.fingerprint === '' ? null : draft.fingerprint.toLowerCase(),
  isAttackTool: draft.isAttackTool,
  host: draft.scope === 'host' ? draft.host : null,
  tag: draft.scope === 'tag' ? draft.tag : null,
})

/** The draft of a test and the requests that save and delete it. */
export const useRuleTest = (test: RuleTest | null, start: RuleTestBody | null, close: () => void) => {
  const { api, queries } = useServices()
  const [draft, setDraft] = useState(() => draftOfTest(test ?? start))
  const { busy, failure, run } = useChange()
  const finish = (message: string) => {
    void queries.invalidateQueries({ queryKey: ['rule-tests'] })
    tell(message)
    close()
  }
  return {
    ...{ draft, busy, failure },
    edit: (part: Partial<TestDraft>) => setDraft((old) => ({ ...old, ...part })),
    isReady:
      draft.name.trim() !== '' &&
      draft.vid !== '' &&
      draft.pid !== '' &&
      draft.kinds.length > 0 &&
      (draft.scope !== 'host' || draft.host !== '') &&
      (draft.scope !== 'tag' || draft.tag !== ''),
    save: () =>
      run(async () => {
        const body = bodyOf(draft)
        if (test === null) await api.call(createRuleTest, { body })
        else
          await api.call(updateRuleTest, {
            params: { id: test.id },
            body: { ...body, ifChangedAt: test.changedAt },
          })
        finish(test === null ? strings.added : strings.saved)
      }),
    askDelete: ({ id, name }: RuleTest) =>
      confirm({
        title: strings.deleteTest,
        names: [name],
        kind: () => strings.oneTest,
        consequence: strings.deleteEffect,
        run: async () => {
          await api.call(deleteRuleTest, { params: { id } })
          finish(strings.deleted)
        },
      }),
  }
}
