/**
 * Lists common passwords of 12 or more characters (shorter ones are rejected anyway), without a network. Builds them as
 * people do: from words and endings, keyboard walks, runs and repetitions.
 */
const words =
  `password passwort passw0rd p@ssword p@ssw0rd pa$$word pa$$w0rd motdepasse contrasena senha wachtwoord parola
  administrator administrador administrateur admin root superuser sysadmin operator manager guest user username
  welcome welkom willkommen bienvenue letmein changeme changeit default temporary secret secure security
  qwerty qwertz azerty qwertyuiop qwertzuiop azertyuiop asdfgh asdfghjkl asdfasdf zxcvbnm qazwsx qazwsxedc 1q2w3e4r
  1qaz2wsx q1w2e3r4 q1w2e3r4t5 zaq12wsx abc abcd abcdef abcdefg abcdefgh iloveyou ilovegod ihateyou trustno1
  football baseball basketball superman batman spiderman starwars pokemon princess sunshine shadow dragon monkey
  michael jennifer jessica jordan charlie daniel thomas ashley nicole matthew liverpool chelsea arsenal barcelona
  realmadrid manchester juventus yankees cowboys lakers steelers eagles summer winter spring autumn january february
  september october november december monday friday company office internet computer samsung google facebook
  microsoft windows linkedin dropbox cisco oracle server database network hello helloworld master killer freedom
  whatever blink182 mustang corvette ferrari porsche mercedes harley portcullis`
    .split(/\s+/)
    .filter((word) => word !== '')

const endings =
  `1 12 123 1234 12345 123456 1234567 12345678 123456789 1234567890 0 00 000 007 01 10 11 111 1111 69 99 321 4321 54321
  654321 ! !! 1! 12! 123! 1234! 12345! 123456! @ @1 @12 @123 @1234 @12345 # #1 #123 #1234 _123 -123 .123 1@ 123@ 123# 1234#
  2020 2021 2022 2023 2024 2025 2026 2027 2028 2029 2030 2031 @2023 @2024 @2025 @2026 2023! 2024! 2025! 2026!`.split(
    /\s+/,
  )

const walks = [
  '1234567890',
  '0123456789',
  '0987654321',
  '9876543210',
  'abcdefghijklmnopqrstuvwxyz',
  'zyxwvutsrqponmlkjihgfedcba',
  'qwertyuiopasdfghjklzxcvbnm',
  'qwertzuiopasdfghjklyxcvbnm',
  'azertyuiopqsdfghjklmwxcvbn',
  '1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik9ol0p',
  '1q2w3e4r5t6y7u8i9o0p',
  'q1w2e3r4t5y6u7i8o9p0',
  'qazwsxedcrfvtgbyhnujmikolp',
  '!@#$%^&*()_+',
  '1a2b3c4d5e6f7g8h9i',
  'a1b2c3d4e5f6g7h8i9',
  'zaq12wsxcde34rfv',
]

const phrases =
  `correcthorsebatterystaple iloveyouforever iloveyousomuch iloveyoubaby iloveyou1234 letmeinplease opensesame123
  thisismypassword mypassword123 mypassword1234 newpassword1 newpassword123 passwordpassword password123password
  adminadminadmin administrator adminpassword admin123admin rootpassword rootrootroot defaultpassword changemenow
  changemeplease changethispassword temporarypassword welcomewelcome welcome2company companypassword secretpassword
  supersecret123 supersecretpassword verysecretpassword nopassword1234 asdfasdfasdf qweqweqweqwe qwertyqwerty
  qwerty123qwerty qwerty123456789 123qwe123qwe 1234qwerasdf qwerasdfzxcv qweasdzxc123 1qazxsw23edc 1qaz2wsx3edc
  zaq1zaq1zaq1 123123123123 121212121212 112233445566 123321123321 123456654321 123456123456 147258369147 159753159753
  741852963741 789456123789 abc123abc123 abcd1234abcd aaaaaa111111 abcabcabcabc monkeymonkey dragondragon
  footballfootball princessprincess sunshinesunshine michaelmichael manchesterunited unbelievable christopher1
  technology12 playstation1 playstation2 playstation3 playstation4 playstation5 counterstrike leagueoflegends
  worldofwarcraft minecraft123 hellokitty123 harrypotter1 harrypotter7 starwars1234 liverpoolfc123 chocolate123
  butterfly123 elizabeth123 alexander123 myspace12345 godisgood123 jesuschrist1 jesusislord1 jesus1234567
  blessed12345 password-123 password_1234 temp1234temp test1234test testtesttest testpassword testing12345
  letmein12345 ineedanewpassword ncc1701ncc1701 00000000000000 qwertyuiop[] qwertyuiop[]\\ 1234567890-= 1234567890qwerty
  1234567890abc abcdefg12345 abcdefgh1234 a123456789012 a1234567890 aa123456789 q123456789012 123456789abc 123456789qwe
  123456789asd 12345qwert12345 12345678qwer 12345qwerty12345 monitor12345 security1234 networkadmin portcullis12
  portcullisportcullis`.split(/\s+/)

const build = (): ReadonlySet<string> => {
  const all = new Set(phrases)
  function add(text: string): void {
    if (text.length >= 12) all.add(text)
  }
  for (const word of words) {
    add(word)
    add(word + word)
    for (const ending of endings) {
      add(word + ending)
      add(word + word + ending)
    }
  }
  for (const walk of walks) {
    const round = walk + walk
    for (let length = 12; length <= walk.length; length++) add(walk.slice(0, length))
    if (walk.length <= 12) for (let length = 12; length <= 2 * walk.length; length++) add(round.slice(0, length))
  }
  return all
}

const common = build()

/** Returns whether a text repeats a pattern of up to four characters: `aaaaaaaaaaaa`, `abcabcabcabc`. */
const repeats = (text: string): boolean =>
  [1, 2, 3, 4].some(
    (length) =>
      text ===
      text
        .slice(0, length)
        .repeat(Math.ceil(text.length / length))
        .slice(0, text.length),
  )

/** Returns whether a password is on the list, ignoring case, or repeats one short pattern. */
export const isCommonPassword = (password: string): boolean => {
  const folded = password.normalize('NFC').toLowerCase()
  return common.has(folded) || repeats(folded)
}
