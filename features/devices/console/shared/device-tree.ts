/** The part of a device that the tree is built from. */
export interface TreeDevice {
  deviceID: string
  /** Port path such as `1-3.2`. */
  hierarchy: string
  present: boolean
  isKnownAttackTool: boolean
}

export interface TreeNode<D> {
  device: D
  children: TreeNode<D>[]
}

/** Ports of a path as numbers: `1-3.2` is bus 1, port 3, port 2. */
const portsOf = (path: string): number[] => path.split(/[-.]/).map(Number)

const byPort = (one: string, other: string): number => {
  const [a, b] = [portsOf(one), portsOf(other)]
  for (let index = 0; index < Math.max(a.length, b.length); index++) {
    const difference = (a[index] ?? -1) - (b[index] ?? -1)
    if (difference !== 0) return difference
  }
  return 0
}

const parentPath = (path: string): string | null => {
  const dot = path.lastIndexOf('.')
  return dot === -1 ? null : path.slice(0, dot)
}

/** Moves known attack tools to the front and keeps the order of everything else. */
export const attackToolsFirst = <D extends Pick<TreeDevice, 'isKnownAttackTool'>>(devices: readonly D[]): D[] =>
  devices.toSorted((one, other) => Number(other.isKnownAttackTool) - Number(one.isKnownAttackTool))

/**
 * Returns present devices as a tree in port order. A device whose hub is unknown is a child of the nearest known hub
 * above it, else of the root. Attack tools are at the root, before all other devices.
 */
export const deviceTree = <D extends TreeDevice>(devices: readonly D[]): TreeNode<D>[] => {
  const nodes = devices
    .filter(({ present }) => present)
    .toSorted((one, other) => byPort(one.hierarchy, other.hierarchy))
    .map((device): TreeNode<D> => ({ device, children: [] }))
  const byPath = new Map<string, TreeNode<D>>()
  for (const node of nodes) if (!byPath.has(node.device.hierarchy)) byPath.set(node.device.hierarchy, node)
  const roots: TreeNode<D>[] = []
  for (const node of nodes) {
    let above = parentPath(node.device.hierarchy)
    while (above !== null && !byPath.has(above)) above = parentPath(above)
    const parent = above === null || node.device.isKnownAttackTool ? undefined : byPath.get(above)
    if (parent === undefined || parent === node) roots.push(node)
    else parent.children.push(node)
  }
  return roots.toSorted((one, other) => Number(other.device.isKnownAttackTool) - Number(one.device.isKnownAttackTool))
}
