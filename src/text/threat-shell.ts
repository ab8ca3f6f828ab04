/** Threats in URLs, shell commands and encoded blocks (SPEC §2.5). Each function is linear in the text. */

/** Values that stand for a secret without being one: `$DB_PASS`, `<password>`, `***`, `{{token}}`, `%s`. */
const PLACEHOLDER = /^(?:[$%{<[*•.…x]|x{3,}$|redacted$|your[_-])/i;

/** A user part that is itself a token: long, letters and digits, or with a known token's prefix. */
const TOKEN = /^(?:gh[pousr]_|github_pat_|glpat-|xox[abp]-|sk-)[\w-]{8,}$|^(?=[a-z_-]*\d)[\w-]{24,}$/i;

const SECRET_PARAMETER =
  /[?&](?:api[_-]?key|apikey|access[_-]?token|auth[_-]?token|token|password|passwd|pwd|secret|client[_-]?secret|sig|signature|x-amz-signature)=([^&#\s"'<>)]{1,300})/gi;

/** Longest part of an address that is looked at after its `://`. */
const LONGEST_ADDRESS = 600;

/** Whether an address in the line carries a password, a token or a signed secret. */
export function hasCredentialUrl(line: string): boolean {
  for (let at = line.indexOf('://'); at >= 0; at = line.indexOf('://', at + 3)) {
    if (!/[a-z][a-z0-9+.-]{0,20}$/i.test(line.slice(Math.max(0, at - 22), at))) continue;
    const address = /^[^\s"'`<>]*/.exec(line.slice(at + 3, at + 3 + LONGEST_ADDRESS))![0];
    // An address that was cut by its placeholder (`user:<password>@host`) has no `@` left and passes.
    const authority = /^[^/?#]*/.exec(address)![0];
    const userInfo = authority.slice(0, Math.max(0, authority.lastIndexOf('@')));
    const colon = userInfo.indexOf(':');
    if (colon >= 0 && colon < userInfo.length - 1 && !PLACEHOLDER.test(userInfo.slice(colon + 1)))
      return true;
    if (colon < 0 && TOKEN.test(userInfo)) return true;
    for (const [, value] of address.matchAll(SECRET_PARAMETER)) {
      if (value!.length >= 6 && !PLACEHOLDER.test(value!)) return true;
    }
  }
  return false;
}

const DOWNLOAD =
  /(?:^|[\s;&(`"'$])(?:curl|wget|fetch|iwr|irm|invoke-webrequest|invoke-restmethod|lwp-download|aria2c?|http)(?:\.exe)?\s+(\S.*)$/i;
/** What a download command works on: an address, an option, a variable. */
const SOURCE = /https?:|ftp:|\$|(?:^|\s)-{1,2}[a-z]|(?:^|[\s"'])[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}/i;
const DECODE = /\b(?:base64\s+(?:-d|-D|--decode)|base64\s+-\w*d|xxd\s+-r|openssl\s+enc)\b/;
/** A command that runs what it is given on its standard input. */
const RUNS_INPUT =
  /^\s*(?:(?:sudo|doas|env|exec|nohup|command)\s+(?:-\S+\s+)*(?:\w+=\S*\s+)*)*(?:\/\S*\/)?(?:(?:ba|z|da|k|fi|a|c|tc)?sh|iex|invoke-expression|pwsh|powershell(?:\.exe)?|cmd(?:\.exe)?)(?=$|[\s;&"'`)\]}.,])/i;
const INTERPRETS_INPUT =
  /^\s*(?:(?:sudo|doas|env)\s+(?:-\S+\s+)*)*(?:\/\S*\/)?(?:python[\d.]*|perl|ruby|node|php|lua|osascript|deno run|bun run)\s*(?:-(?=\s|$)|(?=$|[;&"'`)\]}]))/i;
const SUBSTITUTED =
  /(?:\b(?:ba|z|da|k)?sh(?:\s+-\w+)*\s*["']?\s*|\beval\s*["']?\s*|\bsource\s+|(?:^|\s)\.\s+|\bpython[\d.]*\s+-c\s*["']?\s*|\b(?:iex|invoke-expression)\s*["']?\s*)(?:[$<]?\(|`)\s*(?:curl|wget|fetch|iwr|irm|invoke-webrequest|invoke-restmethod|new-object\s+(?:system\.)?net\.webclient)\b/i;
const SAVED =
  /\b(?:curl|wget)\b[^|;&]{0,400}(?:-o|-O|>|--output)[^|;&]{0,200}(?:&&|;)\s*(?:chmod\s+\S{1,20}\s+\S{1,200}\s*(?:&&|;)\s*)?(?:sudo\s+)?(?:(?:ba|z|da)?sh\s+\S|\.\/|bash\b|python[\d.]*\s+\S)/i;

/** Lines longer than this are looked at in overlapping windows, so that no pattern sees much at once. */
const WINDOW = 2_000;

function inWindows(line: string, test: (text: string) => boolean): boolean {
  for (let at = 0; at < line.length; at += WINDOW / 2) {
    if (test(line.slice(at, at + WINDOW))) return true;
    if (at + WINDOW >= line.length) break;
  }
  return false;
}

/** Whether a line downloads something and runs it at once. */
export function runsDownload(line: string): boolean {
  return inWindows(line, runsDownloadIn);
}

function runsDownloadIn(text: string): boolean {
  if (SUBSTITUTED.test(text) || SAVED.test(text)) return true;
  for (const command of text.replaceAll('||', ';').split(/;|&&/)) {
    let loaded = false;
    for (const stage of command.split('|')) {
      if (loaded && (RUNS_INPUT.test(stage) || INTERPRETS_INPUT.test(stage))) return true;
      const source = DOWNLOAD.exec(stage)?.[1];
      loaded ||= (source !== undefined && SOURCE.test(source)) || DECODE.test(stage);
    }
  }
  return false;
}

const NEGATED = /\b(?:never|not|don't|dont|avoid|forbidden|no)\b[^.!?;]*$/i;
const WIPES =
  /\brm\s+(?:-[a-z-]+\s+)*(?:-[a-z]*r[a-z]*f[a-z]*|-[a-z]*f[a-z]*r[a-z]*|-r\s+-f|-f\s+-r|--recursive\s+--force|--force\s+--recursive)\s+(?:--no-preserve-root\s+)?["']?(?:\/(?=[\s*"'`;)]|$)|~\/?(?=[\s*"'`;)]|$)|\*(?=\s|$)|\$\{?HOME\b|\/(?:etc|usr|var|home|bin|boot|lib|root)\b)/i;
const WIPES_DISK =
  /\bdd\s[^|;&]{0,200}\bof=\/dev\/(?:sd|nvme|hd|vd|disk)|\bmkfs\.?\w{0,8}\s[^|;&]{0,100}\/dev\/|:\(\)\s*\{\s*:\s*\|\s*:\s*&\s*\}\s*;\s*:/;

/** Whether a line holds a command that destroys a home, a system or a disk, and does not warn of it. */
export function destroysSystem(line: string): boolean {
  return inWindows(line, destroysSystemIn);
}

function destroysSystemIn(line: string): boolean {
  const found = WIPES.exec(line) ?? WIPES_DISK.exec(line);
  return found !== null && !NEGATED.test(line.slice(Math.max(0, found.index - 60), found.index));
}

/** Shortest run of base64 that counts as a payload, in characters. */
const SHORTEST_PAYLOAD = 200;
/** Base64 wrapped at a column has lines of at least this length, the last one excepted. */
const SHORTEST_WRAPPED_LINE = 40;

/**
 * Whether the lines hold a run of at least 200 base64 characters, in one line or wrapped over several.
 * Separators (`-----`), paths and slugs are not: nine of ten characters of base64 are letters and digits.
 */
export function hasEncodedPayload(lines: readonly string[]): boolean {
  let wrapped = '';
  for (const line of lines) {
    for (const [run] of line.matchAll(/[A-Za-z0-9+/_-]+={0,2}/g)) {
      if (run.length >= SHORTEST_PAYLOAD && isDense(run)) return true;
    }
    const trimmed = line.trim();
    if (
      /^[A-Za-z0-9+/_-]+={0,2}$/.test(trimmed) &&
      (trimmed.length >= SHORTEST_WRAPPED_LINE || wrapped !== '')
    ) {
      wrapped += trimmed;
      if (wrapped.length >= SHORTEST_PAYLOAD && isDense(wrapped)) return true;
      if (trimmed.length < SHORTEST_WRAPPED_LINE) wrapped = '';
    } else {
      wrapped = '';
    }
  }
  return false;
}

function isDense(run: string): boolean {
  return (run.match(/[A-Za-z0-9]/g)?.length ?? 0) >= run.length * 0.9;
}
