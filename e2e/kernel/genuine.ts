import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Creates a controller and the host side of QEMU devices: a disk image, a folder of a phone, a serial line. */
export const genuineHardware = (dir: string) => {
  const [image, phone, serial, control] = ['stick.img', 'phone', 'serial', 'qmp'].map((name) => join(dir, name)) as [
    string,
    string,
    string,
    string,
  ]
  writeFileSync(image, Buffer.alloc(1024 * 1024, 0x67))
  mkdirSync(phone)
  writeFileSync(join(phone, 'photo.txt'), 'a photo')
  return {
    control,
    serial,
    phone,
    /** Arguments of QEMU. */
    options: [
      ...['-device', 'qemu-xhci,id=xhci,p2=8,p3=8', '-qmp', `unix:${control},server=on,wait=off`],
      ...['-drive', `if=none,id=stick,format=raw,file=${image}`, '-audiodev', 'none,id=sound'],
      ...['-chardev', `socket,id=serial,path=${serial},server=on,wait=off`],
    ],
  }
}
