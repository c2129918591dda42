/** The Plug and Play tree of Windows: the position of each node, and whether it works. */
import type { RawNode } from '../inventory.ts'
import { decodeProperties, MAX_INSTANCE_ID } from '../properties.ts'

export interface TreeNode {
  id: string
  /** Empty if unknown. */
  parent: string
  isPresent: boolean
  hardwareIds: readonly string[]
  compatibleIds: readonly string[]
  /** Problem code (`CM_PROB_`); 0 without one. */
  problem: number
  /** Whether a driver controls it. A present node with an unknown status counts as working. */
  isWorking: boolean
  /** Whether its hub reports it as removable. */
  isRemovable: boolean
}

export const PROBLEM = { failedInstall: 28, disabled: 22 } as const
const DN_STARTED = 0x8
const DN_HAS_PROBLEM = 0x400
const CAPABILITY_REMOVABLE = 4
/** Maximum nodes below one device. A composite device with 32 functions has about 100. */
const MAX_BELOW = 256

/** Matches a device on the bus, but not its interfaces (`&MI_00`) and root hubs. */
const USB_DEVICE = /^USB\\VID_[0-9A-F]{4}&PID_[0-9A-F]{4}(?:&REV_[0-9A-F]{4})?\\[^\\]+$/i
export const isUsbDevice = (id: string): boolean => USB_DEVICE.test(id)

export const foldId = (id: string): string => id.toUpperCase()

const isWorkingStatus = (status: number | undefined, problem: number): boolean =>
  status === undefined
    ? problem !== PROBLEM.failedInstall && problem !== PROBLEM.disabled
    : (status & DN_STARTED) !== 0 && (status & DN_HAS_PROBLEM) === 0

/** Reads the nodes. Ignores those without a valid instance ID. */
export const createTreeOf = (raw: Iterable<RawNode>) => {
  const nodes = new Map<string, TreeNode>()
  const below = new Map<string, TreeNode[]>()
  for (const { instanceId, isPresent, properties } of raw) {
    if (instanceId === undefined || instanceId === '' || instanceId.length > MAX_INSTANCE_ID) continue
    if (nodes.has(foldId(instanceId))) continue
    const { status, problem = 0, ...rest } = decodeProperties(properties, () => undefined)
    const node: TreeNode = {
      id: instanceId,
      parent: rest.parent ?? '',
      isPresent,
      hardwareIds: rest.hardwareIds ?? [],
      compatibleIds: rest.compatibleIds ?? [],
      problem,
      isWorking: isPresent && isWorkingStatus(status, problem),
      isRemovable: ((rest.capabilities ?? 0) & CAPABILITY_REMOVABLE) !== 0,
    }
    nodes.set(foldId(instanceId), node)
    if (node.parent === '') continue
    const siblings = below.get(foldId(node.parent))
    if (siblings === undefined) below.set(foldId(node.parent), [node])
    else siblings.push(node)
  }

  /**
   * Returns the nodes below a device, parents first, at most `MAX_BELOW`. Devices behind a hub are not parts of the
   * hub.
   */
  function parts(id: string): TreeNode[] {
    const found: TreeNode[] = []
    const visited = new Set([foldId(id)])
    for (let queue = [id]; queue.length > 0; ) {
      const next: string[] = []
      for (const at of queue)
        for (const child of below.get(foldId(at)) ?? []) {
          if (visited.has(foldId(child.id)) || found.length >= MAX_BELOW || isUsbDevice(child.id)) continue
          visited.add(foldId(child.id))
          found.push(child)
          next.push(child.id)
        }
      queue = next
    }
    return found
  }

  return {
    get: (id: string): TreeNode | undefined => nodes.get(foldId(id)),
    all: (): Iterable<TreeNode> => nodes.values(),
    parts,
    /** Returns the nodes above a node, nearest first. */
    ancestors(id: string): TreeNode[] {
      const found: TreeNode[] = []
      const visited = new Set([foldId(id)])
      for (let at = nodes.get(foldId(id)); at !== undefined; ) {
        at = visited.has(foldId(at.parent)) ? undefined : nodes.get(foldId(at.parent))
        if (at === undefined) break
        visited.add(foldId(at.id))
        found.push(at)
      }
      return found
    },
  }
}
export type Tree = ReturnType<typeof createTreeOf>
