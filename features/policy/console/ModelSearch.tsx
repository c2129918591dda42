import { Autocomplete } from '@mantine/core'
import { plainText } from '@portcullis/platform/console/lib/device-text.ts'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { keepPreviousData } from '@tanstack/react-query'
import { useDeferredValue, useState } from 'react'
import { getPeripheralModels } from '#features/contract.ts'
import { nameOfModel } from '#features/devices/console/shared/model-name.ts'
import { strings } from './strings.ts'

const named = (model: { vid: string; pid: string; guiVid: string; guiPid: string }): string =>
  plainText(`${nameOfModel(model)} ${model.vid}:${model.pid}`.trim())

/** Finds a model in the fleet by name and fills in its VID:PID. */
export const ModelSearch = ({ onChosen }: { onChosen: (vid: string, pid: string) => void }) => {
  const [text, setText] = useState('')
  const search = useDeferredValue(text.trim())
  const found = useRead(['model-search', search], getPeripheralModels, {
    query: { globalSearch: search, PageSize: 12 },
    placeholderData: keepPreviousData,
  })
  const models = new Map((found.data?.data ?? []).map((model) => [named(model), model]))
  return (
    <Autocomplete
      label={strings.findModel}
      size="xs"
      placeholder={strings.findModelHint}
      data={[...models.keys()]}
      filter={({ options }) => options}
      value={text}
      onChange={setText}
      onOptionSubmit={(name) => {
        const model = models.get(name)
        if (model !== undefined) onChosen(model.vid, model.pid)
      }}
      maxDropdownHeight={220}
    />
  )
}

/** Shows the name of a VID:PID and its number of hosts. */
export const ModelName = ({ vid, pid }: { vid: string; pid: string }) => {
  const isWhole = /^[0-9a-f]{4}$/i.test(vid) && (pid === '' || /^[0-9a-f]{4}$/i.test(pid))
  const known = useRead(['model-name', vid.toUpperCase(), pid.toUpperCase()], getPeripheralModels, {
    query: { vid, ...(pid === '' ? {} : { pid }), PageSize: 3 },
    enabled: isWhole,
  })
  if (!isWhole || known.data === undefined) return null
  const [model] = known.data.data
  if (model === undefined) return <>{strings.modelUnknown}</>
  if (pid === '')
    return (
      <>
        {strings.vendorModels({
          vendor: plainText(model.guiVid) || strings.thisVendor,
          count: known.data.recordsFiltered,
        })}
      </>
    )
  return (
    <>
      {strings.modelHosts({
        name: plainText(nameOfModel(model)) || strings.unknownName,
        count: model.agentsCount,
      })}
    </>
  )
}
