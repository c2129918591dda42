// Written by `node e2e/kernel/write-driver-names.ts`. Do not edit.
// From these kernels of Debian with all modules that register a driver: 6.1.0-50-amd64, 6.12.117+deb13-amd64, 7.3.4+deb13-amd64.

/** Names of drivers as in /sys/bus/usb/drivers or /sys/bus/hid/drivers, by the folder of their module below `kernel/`. */
type ByFolder = ReadonlyMap<string, readonly string[]>

const byFolder = (text: string): ByFolder =>
  new Map(
    text
      .trim()
      .split(/\n(?! )/)
      .map((entry) => {
        const [folder = '', names = ''] = entry.split(': ', 2)
        return [folder, names.split('|').map((name) => name.trim())]
      }),
  )

export const usbDrivers = byFolder(`
drivers/bluetooth: ath3k | bcm203x | bfusb | bpa10x | btusb
drivers/gnss: gnss-usb
drivers/gpio: gpio-mpsse
drivers/gpu/drm/udl: udl
drivers/hid/usbhid: usbhid
drivers/i2c/busses: RobotFuzz Open Source InterFace, OSIF | i2c-diolan-u2c | i2c-tiny-usb
drivers/input/joystick: pxrc | xpad
drivers/input/joystick/iforce: iforce
drivers/input/misc: ati_remote2 | cm109 | keyspan_remote | powermate | yealink
drivers/input/mouse: appletouch | bcm5974 | synaptics_usb
drivers/input/tablet: aiptek | hanwang | kbtab | pegasus_notetaker | usb_acecad
drivers/input/touchscreen: sur40 | usbtouchscreen
drivers/isdn/hardware/mISDN: HFC-S_USB
drivers/media/radio: dsbr100 | radio-keene | radio-ma901 | radio-mr800 | radio-raremono | radioshark | radioshark2
drivers/media/radio/si470x: radio-si470x
drivers/media/rc: ati_remote | igorplugusb | iguanair | imon | imon_raw | mceusb | redrat3 | streamzap | ttusbir
drivers/media/usb/airspy: airspy
drivers/media/usb/as102: Abilis Systems as10x usb driver
drivers/media/usb/au0828: au0828
drivers/media/usb/b2c2: b2c2_flexcop_usb
drivers/media/usb/cx231xx: cx231xx
drivers/media/usb/dvb-usb: cinergyT2 | dvb_usb_a800 | dvb_usb_af9005 | dvb_usb_az6027 | dvb_usb_cxusb |
  dvb_usb_dib0700 | dvb_usb_dibusb_mb | dvb_usb_dibusb_mc | dvb_usb_digitv | dvb_usb_dtt200u | dvb_usb_dtv5100 |
  dvb_usb_gp8psk | dvb_usb_m920x | dvb_usb_nova_t_usb2 | dvb_usb_technisat_usb2 | dvb_usb_ttusb2 | dvb_usb_umt_010 |
  dvb_usb_vp702x | dvb_usb_vp7045 | dw2102 | opera1 | pctv452e
drivers/media/usb/dvb-usb-v2: dvb_usb_af9015 | dvb_usb_af9035 | dvb_usb_anysee | dvb_usb_au6610 | dvb_usb_az6007 |
  dvb_usb_ce6230 | dvb_usb_dvbsky | dvb_usb_ec168 | dvb_usb_gl861 | dvb_usb_lmedm04 | dvb_usb_mxl111sf |
  dvb_usb_rtl28xxu | zd1301
drivers/media/usb/em28xx: em28xx
drivers/media/usb/gspca: benq | conex | cpia1 | dtcs033 | etoms | finepix | gspca_pac7302 | gspca_sn9c20x |
  gspca_topro | gspca_zc3xx | jeilinj | jl2005bcd | kinect | konica | mars | mr97310a | nw80x | ov519 | ov534 |
  ov534_9 | pac207 | pac7311 | se401 | sn9c2028 | sonixb | sonixj | spca1528 | spca500 | spca501 | spca505 | spca506 |
  spca508 | spca561 | sq905 | sq905c | sq930x | stk014 | stk1135 | stv0680 | sunplus | t613 | touptek | tv8532 |
  vc032x | vicam | xirlink-cit
drivers/media/usb/gspca/gl860: gspca_gl860
drivers/media/usb/gspca/m5602: ALi m5602
drivers/media/usb/gspca/stv06xx: STV06xx
drivers/media/usb/hackrf: hackrf
drivers/media/usb/hdpvr: hdpvr
drivers/media/usb/msi2500: msi2500
drivers/media/usb/pvrusb2: pvrusb2
drivers/media/usb/pwc: Philips webcam
drivers/media/usb/s2255: s2255
drivers/media/usb/siano: smsusb
drivers/media/usb/stk1160: stk1160
drivers/media/usb/ttusb-budget: ttusb
drivers/media/usb/ttusb-dec: ttusb-dec
drivers/media/usb/usbtv: usbtv
drivers/media/usb/uvc: uvcvideo
drivers/mfd: viperboard
drivers/misc/cardreader: rtsx_usb
drivers/mmc/host: ushc | vub300
drivers/net/can/usb: ems_usb | esd_usb | gs_usb | mcba_usb | ucan | usb_8dev
drivers/net/can/usb/kvaser_usb: kvaser_usb
drivers/net/can/usb/peak_usb: peak_usb
drivers/net/ieee802154: atusb
drivers/net/usb: CoreChips | MOSCHIP usb-ethernet driver | aqc111 | asix | ax88179_178a | catc | cdc_eem | cdc_ether |
  cdc_mbim | cdc_ncm | cdc_phonet | cdc_subset | ch9200 | cx82310_eth | dm9601 | gl620a | hso | huawei_cdc_ncm |
  int51x1 | ipheth | kalmia | kaweth | lan78xx | lg-vl600 | net1080 | pegasus | plusb | qmi_wwan | r8152 |
  r8152-cfgselector | r8153_ecm | rndis_host | rtl8150 | sierra_net | smsc75xx | smsc95xx | sr9700 | zaurus
drivers/net/wireless: rndis_wlan
drivers/net/wireless/ath/ar5523: ar5523
drivers/net/wireless/ath/ath10k: ath10k_usb
drivers/net/wireless/ath/ath6kl: ath6kl_usb
drivers/net/wireless/ath/ath9k: ath9k_htc
drivers/net/wireless/ath/carl9170: carl9170
drivers/net/wireless/atmel: at76c50x-usb
drivers/net/wireless/broadcom/brcm80211/brcmfmac: brcmfmac
drivers/net/wireless/intersil/orinoco: orinoco_usb
drivers/net/wireless/intersil/p54: p54usb
drivers/net/wireless/marvell/libertas: usb8xxx
drivers/net/wireless/marvell/libertas_tf: lbtf_usb
drivers/net/wireless/marvell/mwifiex: mwifiex_usb
drivers/net/wireless/mediatek/mt76/mt7615: mt7663u
drivers/net/wireless/mediatek/mt76/mt76x0: mt76x0u
drivers/net/wireless/mediatek/mt76/mt76x2: mt76x2u
drivers/net/wireless/mediatek/mt76/mt7921: mt7921u
drivers/net/wireless/mediatek/mt76/mt7925: mt7925u
drivers/net/wireless/mediatek/mt7601u: mt7601u
drivers/net/wireless/ralink/rt2x00: rt2500usb | rt2800usb | rt73usb
drivers/net/wireless/realtek/rtl818x/rtl8187: rtl8187
drivers/net/wireless/realtek/rtl8xxxu: rtl8xxxu
drivers/net/wireless/realtek/rtlwifi/rtl8192cu: rtl8192cu
drivers/net/wireless/realtek/rtw88: rtw88_8723du | rtw88_8812au | rtw88_8814au | rtw88_8821au | rtw88_8821cu |
  rtw88_8822bu | rtw88_8822cu | rtw_8723du | rtw_8821cu | rtw_8822bu | rtw_8822cu
drivers/net/wireless/realtek/rtw89: rtw89_8851bu | rtw89_8852au | rtw89_8852bu | rtw89_8852cu
drivers/net/wireless/rsi: RSI-USB WLAN
drivers/net/wireless/zydas: zd1201
drivers/net/wireless/zydas/zd1211rw: zd1211rw
drivers/nfc: port100
drivers/nfc/pn533: pn533_usb
drivers/staging/r8188eu: r8188eu
drivers/staging/rtl8192u: rtl819xU
drivers/staging/vt6656: vt6656
drivers/staging/wlan-ng: prism2_usb
drivers/usb/atm: cxacru | speedtch | ueagle-atm
drivers/usb/class: cdc_acm | cdc_wdm | usblp | usbtmc
drivers/usb/core: hub | usb | usbfs
drivers/usb/image: mdc800 | microtekX6
drivers/usb/misc: adutux | apple-mfi-fastcharge | appledisplay | chaoskey | cypress_cy7c63 | cytherm |
  emi26 - firmware loader | emi62 - firmware loader | ftdi-elan | idmouse | iowarrior | isight_firmware | ldusb |
  legousbtower | ljca | trancevibrator | usb_ehset_test | usbio-bridge | usblcd | usbsevseg | usbtest | uss720 | yurex
drivers/usb/misc/sisusbvga: sisusb
drivers/usb/serial: aircable | ark3116 | belkin_sa | ch341 | cp210x | cyberjack | cypress_m8 | digi_acceleport |
  empeg | f81232 | f81534 | f81534a_ctrl | ftdi_sio | garmin_gps | io_edgeport | io_ti | ipaq | ipw | ir_usb |
  iuu_phoenix | keyspan | keyspan_pda | kl5kusb105 | kobil_sct | mct_u232 | metro_usb | mos7720 | mos7840 | mxuport |
  navman | omninet | opticon | option | oti6858 | pl2303 | qcaux | qcserial | quatech2 | safe_serial | sierra |
  spcp8x5 | ssu100 | symbolserial | ti_usb_3410_5052 | upd78f0730 | usb_debug | usb_serial_simple |
  usbserial_generic | visor | whiteheat | wishbone_serial | xr_serial | xsens_mt
drivers/usb/storage: uas | ums-alauda | ums-cypress | ums-datafab | ums-freecom | ums-isd200 | ums-jumpshot |
  ums-karma | ums-onetouch | ums-realtek | ums-sddr09 | ums-sddr55 | ums-usbat | ums_eneub6250 | usb-storage
drivers/usb/usbip: usbip-host
drivers/video/fbdev: smscufx | udlfb
drivers/w1/masters: DS9490R
drivers/watchdog: pcwd_usb
sound/usb: snd-usb-audio
sound/usb/6fire: snd-usb-6fire
sound/usb/bcd2000: snd-bcd2000
sound/usb/caiaq: snd-usb-caiaq
sound/usb/hiface: snd-usb-hiface
sound/usb/line6: snd_usb_pod | snd_usb_podhd | snd_usb_toneport | snd_usb_variax
sound/usb/misc: snd-ua101
sound/usb/usx2y: snd-usb-us122l | snd-usb-usx2y
`)

export const hidDrivers = byFolder(`
drivers/hid: LC RC1000MCE | a4tech | acrux | apple | appleir | arvo | asus | aureal | belkin | betop | bigben |
  cherry | chicony | cm6533_jd | cmedia_hs100b | corsair | cougar | cp2112 | creative-sb0540 | cypress | dragonrise |
  elan | elecom | elo | ezkey | ft260 | gembird | gfrm | glorious | greenasia | gt683r_led | gyration | hammer |
  hid-accutouch | hid-alps | hid-corsair-void | hid-generic | hid-led | hid-multitouch | hid-penmount | hid-picolcd |
  hid-retrode | hid-rmi | hid-sensor-hub | hid-steam | hid-steelseries-arctis | hid-thrustmaster | hid-u2fzero |
  hid-udraw | hid-universal-pidff | hid-vivaldi | hid_mf | hkems | holtek | holtek_kbd | holtek_mouse | icade | isku |
  itetech | jabra | kensington | keytouch | kone | koneplus | konepure | kovaplus | kye | lenovo | lg-g15 | logitech |
  logitech-djreceiver | logitech-hidpp-device | lua | macally | magicmouse | maltron | mcp2221 | microsoft |
  monterey | nintendo | nti | ntrig | ortek | pantherlord | petalynx | plantronics | playstation | primax |
  prodikeys | pyra | redragon | ryos | saitek | samsung | savu | semitek | smartjoyplus | sony | speedlink |
  steelseries | steelseries_srws1 | sunplus | thrustmaster | tivo_slide | topseed | twinhan | uclogic | viewsonic |
  wacom | waltop | wiimote | xinmo | zeroplus | zydacron
drivers/hwmon: aquacomputer_d5next | arctic_fan | corsair-cpro | corsair-psu
`)
