import { SandboxError } from '../errors.ts';

const UNITS: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3600 };

/** Seconds of `90s`, `1m30s`, `500ms`; a bare number counts seconds. @throws SandboxError ERR_SANDBOX_USAGE */
export const secondsOf = (text: string): number => {
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text);
  if (!/^(\d+(\.\d+)?(ms|s|m|h))+$/.test(text)) {
    throw new SandboxError('ERR_SANDBOX_USAGE', `"${text}" is not a duration, for example 90s or 1m30s`);
  }
  return [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)].reduce(
    (sum, [, number, unit]) => sum + Number(number) * (UNITS[unit ?? 's'] ?? 1),
    0,
  );
};
