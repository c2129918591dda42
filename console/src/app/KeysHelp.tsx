import { Modal } from '@mantine/core'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import classes from './KeysHelp.module.css'
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
        <dl className={classes.list}>
          <div>
            <dt>{strings.searchEverything}</dt>
            <dd>
              <kbd>{strings.ctrl}</kbd> <kbd>K</kbd>
            </dd>
          </div>
          {keys.list().map(({ keys: binding, description }) => (
            <div key={binding}>
              <dt>{description}</dt>
              <dd>
                {binding.split(' ').map((key) => (
                  <kbd key={key}>{names[key] ?? key}</kbd>
                ))}
              </dd>
            </div>
          ))}
        </dl>
      ) : null}
    </Modal>
  )
}
