/**
 * Quantities as Kubernetes writes them: `10M`, `1.5Gi`, `1e3`.
 * https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
 */
import { z } from 'zod';
import { asText } from './as-text.ts';

/** @returns the value in whole units, rounded up as `Quantity.Value()` does; undefined when the text is none */
export const readQuantity = (text: string): bigint | undefined => {
  const [, sign = '', whole = '', fraction = '', suffix = ''] = QUANTITY.exec(text) ?? [];
  if (whole === '' && fraction === '') return undefined;
  const scale = scaleOf(suffix);
  if (scale === undefined) return undefined;
  const digits = BigInt(`${whole}${fraction}`) * scale.numerator;
  const divisor = 10n ** BigInt(fraction.length) * scale.denominator;
  return sign === '-' ? -(digits / divisor) : (digits + divisor - 1n) / divisor;
};

/** So many digits say all that fits 64 bits: without a limit one text would keep its reader busy. */
const QUANTITY = /^([+-]?)([0-9]{0,30})(?:\.([0-9]{0,30}))?([A-Za-z]{0,2}|[eE][+-]?[0-9]{1,2})$/;

interface Scale {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

const scaleOf = (suffix: string): Scale | undefined => {
  const power = POWERS[suffix];
  if (power !== undefined) return powerOf(...power);
  const [, exponent] = /^[eE]([+-]?[0-9]+)$/.exec(suffix) ?? [];
  return exponent === undefined ? undefined : powerOf(10n, Number(exponent));
};

const powerOf = (base: bigint, exponent: number): Scale =>
  exponent < 0
    ? { numerator: 1n, denominator: base ** BigInt(-exponent) }
    : { numerator: base ** BigInt(exponent), denominator: 1n };

const POWERS: Readonly<Record<string, readonly [bigint, number]>> = {
  n: [10n, -9],
  u: [10n, -6],
  m: [10n, -3],
  '': [10n, 0],
  k: [10n, 3],
  M: [10n, 6],
  G: [10n, 9],
  T: [10n, 12],
  P: [10n, 15],
  E: [10n, 18],
  Ki: [2n, 10],
  Mi: [2n, 20],
  Gi: [2n, 30],
  Ti: [2n, 40],
  Pi: [2n, 50],
  Ei: [2n, 60],
};

/** A quantity between two others, as a number. @param unit for the message, `bits per second` */
export const quantityBetween = (least: string, most: string, unit: string): z.ZodType<number, string> =>
  z.string().transform((text, context) => {
    const value = readQuantity(text.trim());
    const [min = 0n, max = 0n] = [readQuantity(least), readQuantity(most)];
    if (value !== undefined && value >= min && value <= max) return Number(value);
    const shown = asText(text).slice(0, 80);
    const message =
      value === undefined
        ? `"${shown}" is not a quantity, as 10M is`
        : `"${shown}" is not between ${least} and ${most} ${unit}`;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  });
