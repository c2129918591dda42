import type { Boot } from '../boot.ts'
import type { FactsCollector, FactsDeps } from '../collectors/facts.ts'
import type { SysfsCollector } from '../collectors/sysfs.ts'
import type { WatcherTiming } from '../collectors/watcher.ts'
import type { Grade } from '../enforcement/kernel.ts'

/** A system on which the agent reports devices but cannot block them. */
export interface MonitoringPlatform {
  inventory: Pick<SysfsCollector, 'ports' | 'read' | 'scan' | 'stamp'>
  facts: (deps: FactsDeps) => FactsCollector
  boot: () => Boot
  /** Always `observe`, with the reason. */
  grade: Grade
  timing: WatcherTiming
}
