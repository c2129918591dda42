// Loaded into the program that the bootstrap starts: when the bootstrap is gone the program ends in its orderly way,
// instead of holding port and data directory with nobody left to stop it.
process.channel?.unref()
process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
// Gone before this line was reached: the event is over.
if (process.connected === false) process.kill(process.pid, 'SIGTERM')
