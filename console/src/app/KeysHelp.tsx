import { Modal } from '@mantine/core'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { Columns, Row } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { strings } from './strings.ts'

const names: Readonly<Record<string, string>> = {
  ArrowDown: '↓',
  ArrowUp: '↑',
  Enter: strings.enterKey,
  Escape: strings.escapeKey,
  PageDown: strings.pageDownKey,
  PageUp: strings.pageUpKey,
}

/** Lists the keyboard shortcuts of the current page. */
export const KeysHelp = ({ opened, close }: { opened: boolean; close: () => void }) => {
  const { keys } = useServices()
  return (
    <Modal opened={opened} onClose={close} title={strings.keyboardShortcuts} size="md">
      {opened ? (
        <Columns as="dl" template="repeat(auto-fit, minmax(200px, 1fr))" gap="6px 32px" small>
          <Row justify="space-between">
            <dt>{strings.searchEverything}</dt>
            <dd>
              <kbd>{strings.ctrl}</kbd> <kbd>K</kbd>
            </dd>
          </Row>
          {keys.list().map(({ keys: binding, description }) => (
            <Row justify="space-between" key={binding}>
              <dt>{description}</dt>
              <dd>
                {binding.split(' ').map((key) => (
                  <kbd key={key}>{names[key] ?? key}</kbd>
                ))}
              </dd>
            </Row>
          ))}
        </Columns>
      ) : null}
    </Modal>
  )
}
