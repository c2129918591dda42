import type { Check } from '../kit/verdict.ts'
import { brokenPeers } from './broken-peers.ts'
import { busyEventLoop } from './busy-event-loop.ts'
import { failover } from './failover.ts'
import { fullDisk } from './full-disk.ts'
import { idleConnections } from './idle-connections.ts'
import { install } from './install.ts'
import { killDatabase } from './kill-database.ts'
import { killServer } from './kill-server.ts'
import { killWorker } from './kill-worker.ts'
import { pauseDatabase } from './pause-database.ts'
import { powerLoss } from './power-loss.ts'
import { restoreBackup } from './restore-backup.ts'
import { rollingRestart } from './rolling-restart.ts'
import { slowClients } from './slow-clients.ts'
import { soak } from './soak.ts'
import { stopServer } from './stop-server.ts'
import { thrownErrors } from './thrown-errors.ts'
import { thunderingHerd } from './thundering-herd.ts'
import { upgrade } from './upgrade.ts'

export const drills: readonly Check[] = [
  killServer,
  stopServer,
  killDatabase,
  pauseDatabase,
  fullDisk,
  killWorker,
  slowClients,
  idleConnections,
  brokenPeers,
  rollingRestart,
  upgrade,
  install,
  restoreBackup,
  soak,
  busyEventLoop,
  thunderingHerd,
  thrownErrors,
  powerLoss,
  failover,
]
