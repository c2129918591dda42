import { Autocomplete } from '@mantine/core'
import { getPeripheralModels } from '@portcullis/contract'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useDeferredValue, useState } from 'react'
import { plainText } from '../../lib/device-text.ts'
import { useServices } from '../../lib/services.tsx'
import { strings } from './strings.ts'

const named = (model: { vid: string; pid: string; guiVid: string; guiPid: string }): string =>
  plainText(`${[model.guiVid, model.guiPid].filter(Boolean).join(' ')} ${model.vid}:${model.pid}`.trim())

/** Finds a model of the fleet by its name and fills in its ids. */
export const ModelSearch = ({ onChosen }: { onChosen: (vid: string, pid: string) => void }) => {
  const { api } = useServices()
  const [text, setText] = useState('')
  const search = useDeferredValue(text.trim())
  const found = useQuery({
    queryKey: ['model-search', search],
    queryFn: ({ signal }) => api.call(getPeripheralModels, { query: { globalSearch: search, PageSize: 12 }, signal }),
    placeholderData: keepPreviousData,
  })
  const models = new Map((found.data?.data ?? []).map((model) => [named(model), model]))
  return (
    <Autocomplete
      label={strings.findAModelOfTheFleet}
      size="xs"
      placeholder={strings.aProductOrVendorSuchAs}
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

/** What usb.ids and the fleet call these ids, and on how many hosts they are. */
export const ModelName = ({ vid, pid }: { vid: string; pid: string }) => {
  const { api } = useServices()
  const isWhole = /^[0-9a-f]{4}$/i.test(vid) && (pid === '' || /^[0-9a-f]{4}$/i.test(pid))
  const known = useQuery({
    queryKey: ['model-name', vid.toUpperCase(), pid.toUpperCase()],
    queryFn: ({ signal }) =>
      api.call(getPeripheralModels, { query: { vid, ...(pid === '' ? {} : { pid }), PageSize: 3 }, signal }),
    enabled: isWhole,
  })
  if (!isWhole || known.data === undefined) return null
  const [model] = known.data.data
  if (model === undefined) return <>{strings.notSeenInThisFleetYet}</>
  if (pid === '')
    return (
      <>
        {strings.guividRecordsfilteredOtherModelsInThis({
          guiVid: plainText(model.guiVid) || strings.thisVendor,
          recordsFiltered: known.data.recordsFiltered,
        })}
      </>
    )
  return (
    <>
      {strings.valueAttachedToAgentscountOtherHosts({
        value: plainText([model.guiVid, model.guiPid].filter(Boolean).join(' ')) || strings.noNameIsKnown,
        agentsCount: model.agentsCount,
      })}
    </>
  )
}
