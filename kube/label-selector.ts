/** Label selectors as they stand in URLs: `a=b,c!=d,e in (f,g),h notin (i),j,!k`. */
import type { Labels } from '../api/label-selector.ts';

type LabelSelector = (labels: Labels) => boolean;

/** @throws SyntaxError with the words of an API server */
export const parseLabelSelector = (text: string): LabelSelector => {
  const requirements = splitRequirements(text).map(parseRequirement);
  return (labels) => requirements.every((matches) => matches(labels));
};

/** At the commas that are not between parentheses. */
const splitRequirements = (text: string): string[] =>
  text
    .split(/,(?![^(]*\))/)
    .map((part) => part.trim())
    .filter((part) => part !== '');

const KEY = '([A-Za-z0-9][-A-Za-z0-9_./]*)';
const VALUE = '([-A-Za-z0-9_.]*)';
const SET = new RegExp(`^${KEY}\\s+(in|notin)\\s+\\(([^()]*)\\)$`);
const EQUALITY = new RegExp(`^${KEY}\\s*(==|=|!=)\\s*${VALUE}$`);
const ORDER = new RegExp(`^${KEY}\\s*([<>])\\s*(-?[0-9]+)$`);
const EXISTENCE = new RegExp(`^(!?)\\s*${KEY}$`);

const parseRequirement = (text: string): LabelSelector =>
  setBased(text) ?? equality(text) ?? order(text) ?? existence(text) ?? refuse(text);

const setBased = (text: string): LabelSelector | undefined => {
  const [, key, operator, list] = SET.exec(text) ?? [];
  if (key === undefined || list === undefined) return undefined;
  const values = new Set(list.split(',').map((value) => value.trim()));
  if (operator === 'in') return (labels) => Object.hasOwn(labels, key) && values.has(labels[key] ?? '');
  return (labels) => !Object.hasOwn(labels, key) || !values.has(labels[key] ?? '');
};

const equality = (text: string): LabelSelector | undefined => {
  const [, key, operator, value] = EQUALITY.exec(text) ?? [];
  if (key === undefined) return undefined;
  return operator === '!=' ? (labels) => labels[key] !== value : (labels) => labels[key] === value;
};

const order = (text: string): LabelSelector | undefined => {
  const [, key, operator, value] = ORDER.exec(text) ?? [];
  if (key === undefined) return undefined;
  return (labels) => {
    const actual = /^-?[0-9]+$/.test(labels[key] ?? '') ? Number(labels[key]) : Number.NaN;
    return operator === '<' ? actual < Number(value) : actual > Number(value);
  };
};

const existence = (text: string): LabelSelector | undefined => {
  const [, not, key] = EXISTENCE.exec(text) ?? [];
  if (key === undefined) return undefined;
  return (labels) => Object.hasOwn(labels, key) !== (not === '!');
};

const refuse = (text: string): never => {
  throw new SyntaxError(`unable to parse requirement: couldn't parse the selector string "${text}"`);
};
