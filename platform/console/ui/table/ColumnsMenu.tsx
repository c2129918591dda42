import { Button, Menu } from '@mantine/core'
import { Icon } from '../icons.tsx'
import type { View } from '../useView.ts'
import type { Column } from './column.ts'
import { strings } from './strings.ts'

/** Chooses the columns of a list. The address stores the choice. */
export const ColumnsMenu = <Row,>({ columns, view }: { columns: readonly Column<Row>[]; view: View }) => {
  const shown = view.state.columns
  return (
    <Menu position="bottom-end" closeOnItemClick={false}>
      <Menu.Target>
        <Button variant="subtle" size="compact-sm" leftSection={<Icon name="columns" size={14} />}>
          {strings.columns}
        </Button>
      </Menu.Target>
      <Menu.Dropdown mah={420} style={{ overflow: 'auto' }}>
        {columns.map(({ id, title }) => {
          const isShown = shown.includes(id)
          return (
            <Menu.CheckboxItem
              key={id}
              checked={isShown}
              disabled={isShown && shown.length === 1}
              onChange={() =>
                view.set(
                  {
                    columns: columns
                      .map((column) => column.id)
                      .filter((one) => (one === id ? !isShown : shown.includes(one))),
                  },
                  { replace: true },
                )
              }
            >
              {title}
            </Menu.CheckboxItem>
          )
        })}
        <Menu.Divider />
        <Menu.Item onClick={() => view.set({ columns: view.spec.defaultColumns }, { replace: true })}>
          {strings.resetColumns}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
