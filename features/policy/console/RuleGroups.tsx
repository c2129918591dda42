import { Menu } from '@mantine/core'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { confirm } from '@portcullis/platform/console/ui/confirm.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { Icon } from '@portcullis/platform/console/ui/icons.tsx'
import { Quiet, Row } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { lazilyDialog } from '@portcullis/platform/console/ui/lazily.tsx'
import { MoreMenu } from '@portcullis/platform/console/ui/MoreMenu.tsx'
import { PlainLink } from '@portcullis/platform/console/ui/PlainLink.tsx'
import { SeverityTag } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { right, SmallTable } from '@portcullis/platform/console/ui/SmallTable.tsx'
import { useState } from 'react'
import { deleteRuleGroup, type RuleGroup } from '#features/contract.ts'
import { rereadPolicy } from './shared/undo.ts'
import { strings } from './strings.ts'

const GroupDialog = lazilyDialog(async () => (await import('./GroupDialog.tsx')).GroupDialog)

/** A link that shows or hides the rules of a group in the list. */
const GroupName = ({ group, isOpen, href }: { group: RuleGroup; isOpen: boolean; href: string }) => (
  <Row as="span" gap={6}>
    <Icon name={isOpen ? 'down' : 'right'} size={14} />
    <PlainLink href={href} isExpanded={isOpen}>
      <DeviceText value={group.name} />
    </PlainLink>
  </Row>
)

const Review = ({ group }: { group: RuleGroup }) =>
  group.reviewOn === null ? (
    <Quiet>–</Quiet>
  ) : group.isReviewDue ? (
    <SeverityTag severity="amber" word={strings.reviewDue({ day: group.reviewOn })} />
  ) : (
    <span>{group.reviewOn}</span>
  )

const Actions = ({ group, edit }: { group: RuleGroup; edit: () => void }) => {
  const services = useServices()
  const remove = () =>
    confirm({
      title: strings.deleteGroup,
      names: [group.name],
      count: 1,
      kind: strings.groupCount,
      consequence: strings.deleteGroupEffect({ count: group.rules }),
      run: async () => {
        await services.api.call(deleteRuleGroup, { params: { id: group.id } })
        rereadPolicy(services)
      },
      done: strings.groupDeleted,
    })
  return (
    <MoreMenu label={strings.groupActions({ name: group.name })}>
      <Menu.Item onClick={edit}>{strings.edit}</Menu.Item>
      <Menu.Item onClick={remove}>{strings.askDelete}</Menu.Item>
    </MoreMenu>
  )
}

/** Lists the rule groups. `open`: name of the group whose rules the list shows. */
export const RuleGroups = ({
  groups,
  open,
  hrefOf,
  canWrite,
}: {
  groups: readonly RuleGroup[]
  open: string | null
  /** Returns the address of the list with the rules of a group; null: with all groups. */
  hrefOf: (name: string | null) => string
  canWrite: boolean
}) => {
  const [edited, setEdited] = useState<RuleGroup | undefined>()
  return (
    <div style={{ maxHeight: '32vh', overflow: 'auto', flex: 'none' }}>
      <SmallTable
        label={strings.ruleGroups}
        head={[
          strings.group,
          right(strings.rules),
          right(strings.hits30),
          strings.cleanUp,
          strings.groupOwner,
          strings.groupReview,
          ...(canWrite ? [' '] : []),
        ]}
        rows={groups.map((group) => {
          const isOpen = group.name === open
          const href = hrefOf(isOpen ? null : group.name)
          return {
            key: group.id,
            href,
            cells: [
              <GroupName key="name" group={group} isOpen={isOpen} href={href} />,
              group.rules.toLocaleString('en'),
              group.hits.toLocaleString('en'),
              <Quiet key="use">
                {group.unused + group.shadowed === 0
                  ? '–'
                  : strings.cleanUpCounts({ unused: group.unused, shadowed: group.shadowed })}
              </Quiet>,
              group.owner === '' ? <Quiet key="owner">–</Quiet> : <DeviceText key="owner" value={group.owner} />,
              <Review key="review" group={group} />,
              ...(canWrite ? [<Actions key="actions" group={group} edit={() => setEdited(group)} />] : []),
            ],
          }
        })}
        empty=""
      />
      {canWrite ? <GroupDialog group={edited} close={() => setEdited(undefined)} /> : null}
    </div>
  )
}
