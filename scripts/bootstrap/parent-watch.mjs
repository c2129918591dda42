// Loaded into the program that the bootstrap starts. If the bootstrap ends, the program shuts down in order. Otherwise
// it would keep the port and the data directory, and nobody would stop it.
process.channel?.unref()
process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
// The bootstrap ended before this line ran, so the event has already passed.
if (process.connected === false) process.kill(process.pid, 'SIGTERM')
