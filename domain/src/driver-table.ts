import type { CapabilityKind } from './icons.ts'

/** Names of kernel drivers: `usb` below /sys/bus/usb/drivers, `hid` below /sys/bus/hid/drivers. */
export interface Drivers {
  usb: readonly string[]
  hid: readonly string[]
}

const words = (text: string): readonly string[] => text.trim().split(/\s+/)

/**
 * HID drivers of keyboards, pointing devices, headset buttons and game controllers (drivers/hid of Linux 6.1 to 6.18,
 * `.name` of each `struct hid_driver`; openrazer's `razer*` is a widely packaged module).
 */
const inputHid = words(`
  hid-generic hid-multitouch a4tech accutouch acrux alps apple appleir appletb-kbd hid-appletb-kbd asus aureal belkin betop
  bigben cherry chicony corsair hid-corsair-void cougar cmedia hid-cmedia creative-sb0540 cypress dragonrise elan elecom elo
  ems evision ezkey gembird gfrm glorious goodix-spi greenasia gt683r gyration hammer holtek holtek_kbd holtek_mouse holtekff
  icade itetech jabra kensington keytouch kye kysona lcpower lenovo hid-lenovo-go letsketch lg-g15 logitech
  logitech-djreceiver logitech-hidpp-device macally magicmouse maltron megaworld hid_mf microsoft monterey nintendo nti ntrig
  ortek pantherlord penmount hid-penmount petalynx plantronics playstation primax pxrc razer razerkbd razermouse razerkraken
  razeraccessory redragon retrode hid-rmi arvo isku kone koneplus konepure kovaplus lua pyra ryos savu saitek samsung semitek
  sigmamicro smartjoyplus sony speedlink stadia steam hid-steam steelseries sunplus thrustmaster hid-thrustmaster tivo_slide
  topre topseed twinhan uclogic hid-udraw hid-universal-pidff viewsonic vivaldi hid-vivaldi vrc2 wacom waltop wiimote
  hid-winwing xiaomi xinmo xpadneo zeroplus zydacron nvidia-shield shield hid-sensor-hub
`)
/** HID drivers for other functions: bridges to I2C and GPIO, lamps, displays, random number generators. */
const otherHid = words(
  `cp2112 ft260 mcp2200 mcp2221 hid-led u2fzero picolcd hid-picolcd prodikeys appletb-bl hid-appletb-bl`,
)

/**
 * Drivers outside usbhid that convert transmissions to key events and bind by VID and PID, whatever the device claims.
 * They serve remote controls, phones, macro keys and game controllers (drivers/input, drivers/media/rc; xone is a
 * widely packaged module).
 */
const remotes = words(`
  ati_remote ati_remote2 keyspan_remote powermate cm109 yealink ims_pcu aiptek xpad xone_wired xone_dongle imon imon_raw
  mceusb streamzap redrat3 igorplugusb iguanair ttusbir xbox_remote ir_toy
`)
/** Television receivers. Their drivers send the keys of the remote control (drivers/media/usb). */
const televisions = words(`
  au0828 cx231xx em28xx hdpvr pvrusb2 tm6000 dvb_usb_rtl28xxu dvb_usb_af9035 dvb_usb_cxusb dvb_usb_dib0700 dvb_usb_dvbsky
  dvb_usb_it913x dvb_usb_lmedm04 dvb_usb_mxl111sf dvb_usb_technisat_usb2 smsusb
`)
/** Drivers of devices that may type without claiming to be keyboards. Only a permission for keyboards covers them. */
export const keyEventDrivers: readonly string[] = [...remotes, ...televisions, 'snd-usb-caiaq']

/** Keyboards and pointing devices. Drivers other than usbhid bind to HID interfaces by VID and PID (drivers/hid/usbhid, drivers/input). */
const typing = words('usbhid usbkbd usbmouse appletouch bcm5974 synaptics_usb')

const bluetooth = words('btusb ath3k bcm203x bfusb bpa10x btmtkusb')
/** drivers/net/wireless. */
const wifi = words(`
  ar5523 ath6kl_usb ath9k_htc ath10k_usb ath11k_usb carl9170 brcmfmac at76c50x-usb mt7601u mt76x0u mt76x2u mt7663u mt7921u
  mt7925u mwifiex_usb p54usb rt2500usb rt2800usb rt73usb rtl8187 rtl8192cu rtl8192du rtl8xxxu rtw_8723du rtw_8812au rtw_8814au
  rtw_8821au rtw_8821cu rtw_8822bu rtw_8822cu rtw89_8851bu rtw89_8852bu rndis_wlan usb8xxx vt6656_usb zd1201 zd1211rw wfx
  libertas_tf_usb orinoco_usb wilc1000_usb
`)
/** drivers/net/usb; cdc_wdm is the control channel of mobile broadband. */
const network = words(`
  cdc_ether cdc_ncm cdc_mbim cdc_eem cdc_subset cdc_wdm rndis_host r8152 r8153_ecm ax88179_178a asix aqc111 smsc75xx smsc95xx
  lan78xx rtl8150 pegasus kaweth catc dm9601 mcs7830 sr9700 sr9800 ch9200 plusb net1080 zaurus gl620a int51x1 cx82310_eth
  qmi_wwan huawei_cdc_ncm sierra_net hso lg-vl600 kalmia ipheth cdc-phonet
`)
/** drivers/usb/serial and drivers/usb/class. */
const serial = words(`
  cdc_acm cdc_wdm ftdi_sio ch341 ch343 pl2303 cp210x usbserial usbserial_generic usb_serial_simple aircable ark3116 belkin_sa
  cyberjack cypress_m8 digi_acceleport empeg f81232 f81534 garmin_gps io_edgeport io_ti ipaq ipw ir-usb iuu_phoenix keyspan
  keyspan_pda kl5kusb105 kobil_sct mct_u232 metro-usb mos7720 mos7840 mxuport navman omninet opticon option oti6858 qcaux
  qcserial quatech2 safe_serial sierra spcp8x5 ssu100 symbolserial ti_usb_3410_5052 upd78f0730 usb_debug visor whiteheat
  wishbone_serial xr_serial xsens_mt
`)
/** sound/usb. */
const audio = words(`
  snd-usb-audio snd-usb-us122l snd-usb-usx2y snd-usb-us144mkii snd-usb-6fire snd-usb-hiface snd-ua101
  snd-bcd2000 snd_usb_pod snd_usb_podhd snd_usb_toneport snd_usb_variax
`)
/** drivers/media/usb and drivers/gpu/drm. */
const video = words(`
  uvcvideo gspca_main airspy go7007 hackrf msi2500 pwc s2255 s2255drv stk1160 stkwebcam usbtv zr364xx udl gud gm12u320
`)

const none: Drivers = { usb: [], hid: [] }

/**
 * Kernel drivers that are allowed for each kind. A driver that is missing here is a mismatch, so a new driver name in a
 * kernel first appears on Free hosts and in the preview of arming. Drivers that send key events belong only to `Keyboard`,
 * so devices that are allowed as another kind cannot have them. `usbfs` is not listed, because programs on the host use it.
 */
export const driverTable: Readonly<Record<CapabilityKind, Drivers>> = {
  Hub: { usb: ['hub'], hid: [] },
  Keyboard: { usb: [...typing, ...keyEventDrivers], hid: inputHid },
  Mouse: { usb: typing, hid: inputHid },
  'Mass Storage': {
    // drivers/usb/storage. The `ums-*` drivers are subdrivers of usb-storage for models with special commands.
    usb: words(`
      usb-storage uas ums-alauda ums-cypress ums-datafab ums_eneub6250 ums-freecom ums-isd200 ums-jumpshot ums-karma
      ums-onetouch ums-realtek ums-sddr09 ums-sddr55 ums-usbat
    `),
    hid: [],
  },
  Network: { usb: [...network, ...wifi], hid: [] },
  Video: { usb: video, hid: [] },
  Audio: { usb: audio, hid: [] },
  Printer: { usb: ['usblp'], hid: [] },
  'Smart Card': { usb: [], hid: [] },
  // Programs access phones through usbfs. An iPhone shares its connection through an Apple-specific interface.
  Phone: { usb: ['ipheth'], hid: [] },
  Imaging: { usb: ['mdc800', 'microtek'], hid: [] },
  Wireless: { usb: [...bluetooth, ...wifi], hid: [] },
  Communication: { usb: serial, hid: [] },
  HID: {
    // In addition to usbhid: wheels, tablets and touch screens in drivers/input, and HID interfaces in drivers/usb/misc.
    usb: words(`
      usbhid iforce usbtouchscreen acecad hanwang kbtab pegasus_notetaker sur40 pxrc iowarrior ldusb legousbtower adutux yurex
      appledisplay idmouse
    `),
    hid: [...inputHid, ...otherHid],
  },
  // Programs access fingerprint readers and boot loaders through usbfs. A billboard device needs no driver.
  Biometric: none,
  Billboard: none,
  'Firmware Update': none,
  Unknown: none,
}
