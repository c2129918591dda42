/** Host key of all simulated SSH hosts, so that connections can name it before the first contact. It protects nothing. */
export const sshHostKey = `-----BEGIN EC PRIVATE KEY-----
MHcCAQEEIHAjKEGsit37WHXhPXhQqxKaJ0mIR6KlcVp24kaUjpAQoAoGCCqGSM49
AwEHoUQDQgAE4bm6vC46Ho2ye6FTwoX6xeMAMiN0egzmRGle9ifnmyU/l6TfgHj7
IqbqEDEKitHDwZz2Vp1mBLKYtdKFWAYHYg==
-----END EC PRIVATE KEY-----
`

/** Its fingerprint in the format of `ssh-keygen -l`. */
export const sshFingerprint = 'SHA256:0akxH/2E6nUeoiYvcgVocLPFEXC0NSFEKKM2tmbkDPU'
