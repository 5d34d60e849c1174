"""Everyday messages come back byte for byte: a masker that eats them makes cases useless."""

import hashlib

import pytest

from pipeline.masking.masker import mask

HASH = hashlib.sha1(b"a commit").hexdigest()
ENGLISH = [
    "No, that is not what I asked for. The button must stay on the left.",
    "update the readme",
    "select the first option from the list",
    "delete from the cart what is sold out",
    "insert into the list a new entry, then update the set of flags",
    "create table of contents entries for each chapter",
    "drop table support for old browsers",
    "ALTER the table layout, and DROP the border",
    "select name from the dropdown where possible",
    "with the usual select (again) it works",
    f"I committed {HASH} already, see {HASH[:7]}",
    f"image sha256:{HASH}{HASH[:24]} is stale",
    "the uuid 550e8400-e29b-41d4-a716-446655440000 is a fixture",
    "python 3.11.7, version 10.2.3.14, node v20.1.0 and pkg==12.3.4.50",
    "npm i react@18.2.0 @types/node uses actions/checkout@v4",
    "listen on 127.0.0.1:5432, not on 0.0.0.0:8080 or [::1]:80",
    "docker run -p 8080:80 -u 1000:1000 image:v1.2.3",
    "ssh -p 2222 box, then scp -r a/b c/d",
    "line 120 of src/masking/views.py and tests/test_views.py::test_home",
    "C:\\Windows\\System32\\drivers and C:\\new\\table",
    "/usr/local/lib/python3.11/site-packages is writable, /home is full",
    "https://example.com/docs/a-b-c?x=1&y=2#part-3",
    "the API key page is broken, rename api_key to apiKey",
    "max_tokens=4096, temperature=0.2, token count is 4096",
    "the auth token is refreshed too late",
    "the secret is stored in plain text",
    "the token expires after 24h, make it 48h",
    "password validation fails when the password is shorter than 8 characters",
    "the password is hashed with sha256 and the password is never logged",
    "use password_hash(password) and user.password = hash(password)",
    "password: z.string().min(8)",
    "const password = await bcrypt.hash(pw, 10)",
    "token = request.headers.get('Authorization')",
    "API_KEY=${API_KEY} and PASSWORD=$DB_PASSWORD come from the environment",
    "use --password-stdin, the --password flag is unsafe",
    "Authorization: Bearer <token> is in the docs",
    "sign in with Google / GitHub, log in with username / password",
    "the login page: /auth/login2 is wrong",
    "chunk-4f2a9c1e8b7d6a5f4e3d.js is too large",
    "released 2026-11-30 12:34:56, took 1732968000123 ms",
    "ratio 16:9 at 10:30, 10.5% of 1,234,567 rows",
    "order 20261130-0001 and number 1234567890 are not found",
    "std::vector<int> and a::b::c in rust, 0x7ffee4b5c8a0 crashed",
    "cookie banner: hidden, set-cookie: is missing",
    "bypass=true; compass: north; passing=12/12",
    "key=value pairs and primary key on id",
    "the passcode screen is blank",
    "seed the database with ten users before the tests run again",
    "mock the basic authentication headers",
    "logo@2x.png is blurred, @app.route is missing",
    "handleUserAuthentication2FactorResponseOfPage is too long a name",
    "it failed with HTTP 429 at 99.9.1 and +120 -30 lines",
    'I said "don\'t touch it" — you’ve changed 3…5 files',
    "1️⃣ first 👩‍💻 then ❤️ café naïve",
    "see #1234, PR 567, RFC 7231 section 6.5.1",
    "the class -home-page-layout is unused, so is body-home-hero-title",
    "the password is about to expire soon, the password's length is checked",
    "password field2 is red, password reset v2 and password validation2 too",
    "password 8characters minimum, password sha512 digest, password Base64encoded",
    "log in as admin with the new flow, then as guest with OAuth2",
    "the OTP field takes 6 digits and the one-time code expires after 300 s",
    f"the storage key 0x{HASH}{HASH[:24]} and the tx 0x{HASH}{HASH[:24]} differ",
    "a handy list of 20261130 rows",
]
KOREAN = [
    "아니, 그 파일 말고 config.py 를 고쳐야 해. 커밋은 하지 마.",
    "비밀번호 재설정 페이지가 안 열려",
    "비밀번호는 8자 이상이어야 해, 검증이 빠졌어",
    "암호는 AES256으로 처리하고 로그에는 남기지 마",
    "토큰 만료 처리를 추가해줘, 만료는 24시간",
    "API 키는 환경 변수에서 읽어",
    "로그인 버튼이 두 번 눌려. 3번째 줄을 봐",
    "계정 설정 화면은 v2.3.1 에서 바뀌었어",
    "전화번호 입력란은 11자리까지만 받아",
    "테이블에서 첫 번째 항목을 선택해 줘",
    "인증번호 입력란은 6자리야, /home/에 있어",
]
JAPANESE = [
    "違います。そのファイルではなく main.ts を直してください。",
    "パスワードの検証が抜けている",
    "パスワードはSHA256でハッシュ化する",
    "トークンは1時間で期限切れになる",
    "ログイン画面の3行目を見て",
    "電話番号の欄は11桁まで",
    "リストから最初の項目を選んで、READMEを更新して",
    "ポート8080とバージョン1.2.3を使う",
]
CHINESE = [
    "不对，我要的是另一个文件。请改 src/app.vue。",
    "密码长度检查不对，密码不能为空",
    "令牌过期时间是3600秒",
    "登录页面第3行有问题",
    "手机号只能输入11位",
    "请更新文档，然后从列表中选择第一项",
    "版本是2.0.1，端口是5432",
    "数据库的表不要删除",
]
GERMAN = [
    "das Passwort ist falsch",
    "Das Kennwort ist ungültig, zeig eine Meldung.",
    "Passwort: erforderlich",
    "Passwort: sichtbar",
    "das Passwort ist im Vault, nicht in der Datei config2.yaml",
    "die Meldung \"das Passwort ist 'falsch'\" fehlt",
    "die Telefonnummer hat 11 Stellen",
    "steht unter 0042, mobil ab 768 1024 1280 px",
    "der Bestätigungscode hat 6 Stellen",
]
SPANISH = [
    "la contraseña es obligatoria",
    "La contraseña es incorrecta, muestra un aviso.",
    "la contraseña es demasiado corta",
    "contraseña: obligatoria",
    "la clave es única",
    "la clave es el id del usuario, la clave primaria es user_id2",
    "el teléfono es obligatorio",
    "el código de verificación caduca en 300 s",
]
FRENCH = [
    "le mot de passe est incorrect",
    "Le mot de passe est oublié.",
    "mot de passe : obligatoire",
    "le mot de passe est l'adresse de l'utilisateur",
    "le téléphone est obligatoire",
    "le code de confirmation est trop long",
]
PORTUGUESE = [
    "a senha é obrigatória",
    "A senha é inválida, mostra um aviso.",
    "senha: incorreta",
    "a senha é salva em texto puro",
    "o telefone é opcional",
    "senha base64 não é cifra",
]
ITALIAN = [
    "la password è sbagliata",
    "La password è obbligatoria.",
    "password: errata",
    "la password è troppo corta",
    "il telefono è obbligatorio",
    "il codice di verifica è scaduto",
]
RUSSIAN = [
    "пароль неверный",
    "Пароль: неверный",
    "пароль обязателен",
    "Пароль должен содержать 8 символов",
    "поле телефон 11 цифр",
    "код подтверждения не приходит",
]
HARMLESS = [
    *ENGLISH,
    *KOREAN,
    *JAPANESE,
    *CHINESE,
    *GERMAN,
    *SPANISH,
    *FRENCH,
    *PORTUGUESE,
    *ITALIAN,
    *RUSSIAN,
]


@pytest.mark.parametrize("text", HARMLESS)
def test_harmless_text_comes_back_as_it_is(text: str) -> None:
    masked = mask(text)
    assert (masked.text, masked.found) == (text, ())


def test_the_corpus_as_one_message_survives_too() -> None:
    text = "\n".join(HARMLESS)
    assert mask(text).text == text
