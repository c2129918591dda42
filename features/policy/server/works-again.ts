import { hostsText } from '#features/agents/server/index.ts'
import type { WorksAgain } from '#features/contract.ts'

/** Lists the blocked devices that will work again, as lines of a request; attack tools come first. */
export const worksAgainLines = ({ agents, peripherals, attackTools }: WorksAgain): string[] => {
  const parts = [
    ...(attackTools === 0 ? [] : [`${attackTools} blocked attack ${attackTools === 1 ? 'tool' : 'tools'}`]),
    ...(peripherals === attackTools
      ? []
      : [
          `${peripherals - attackTools}${attackTools === 0 ? '' : ' other'} blocked ${peripherals - attackTools === 1 ? 'device' : 'devices'}`,
        ]),
  ]
  return parts.length === 0 ? [] : [`${parts.join(' and ')} will work again on ${hostsText(agents)}.`]
}
