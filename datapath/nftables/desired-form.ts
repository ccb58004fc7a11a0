/** The desired state, in the words of a listing. */
import { elementForm } from './element-form.ts';
import { endsQuoted, plainComment, quoted } from './quoted-text.ts';
import type { Chain, ChainHook, Element, NftItem, NftSet } from './types.ts';

export const hookLine = ({ type, hook, priority }: ChainHook): string =>
  `type ${type} hook ${hook} priority ${priority}; policy accept;`;

export const chainHeader = ({ hook, comment }: Chain): string[] => [
  ...(comment === undefined ? [] : [commentLine(comment)]),
  ...(hook === undefined ? [] : [hookLine(hook)]),
];

export const setHeader = ({ type, value, interval, comment }: NftSet): string[] => [
  `type ${type}${value === undefined ? '' : ` : ${value}`}`,
  ...(interval === true ? ['flags interval'] : []),
  ...(comment === undefined ? [] : [commentLine(comment)]),
];

export const setKind = ({ value }: NftSet): 'set' | 'map' => (value === undefined ? 'set' : 'map');

/** `type ipv4_addr . inet_service : verdict` → types of keys and of values. */
export const typesOf = (header: readonly string[]): { key: string; value: string } => {
  const line = header.find((text) => text.startsWith('type ')) ?? 'type ';
  const [key = '', value = ''] = line.slice('type '.length).split(' : ');
  return { key, value };
};

/** `10.0.0.1 . tcp . 80 comment "…" : jump red` */
export const elementText = ({ key, value, comment }: Pick<Element, 'key' | 'value' | 'comment'>): string =>
  [key, ...(comment === undefined ? [] : [commentLine(comment)]), ...(value === undefined ? [] : [':', value])].join(
    ' ',
  );

const commentLine = (comment: string): string => `comment ${quoted(plainComment(comment))}`;

/** The element as the listing of its set would have it. */
export const desiredElement = (header: readonly string[], { key, value, comment }: Element) => {
  const types = typesOf(header);
  return {
    key: elementForm(types.key, key),
    state: {
      value: value === undefined ? undefined : elementForm(types.value, value),
      comment: comment === undefined ? undefined : plainComment(comment),
      extra: undefined,
    },
  };
};

/** Why an item cannot be written to a script, where every line is one command. */
export const problemOf = (item: NftItem): string | undefined => {
  switch (item.kind) {
    case 'chain':
      return isName(item.chain.name) ? firstBad(item.chain.rules) : `${item.chain.name} is no name of a chain`;
    case 'set':
      return isName(item.set.name)
        ? firstBad([item.set.type, item.set.value ?? ''])
        : `${item.set.name} is no name of a set`;
    case 'element':
      return isName(item.element.set)
        ? (firstBad([item.element.key, item.element.value ?? '']) ?? notOneElement(item.element))
        : `${item.element.set} is no name of a set`;
  }
};

const isName = (text: string): boolean => /^[A-Za-z_][\w.-]{0,127}$/.test(text);

/** A line break, a semicolon, a hash or a backslash outside of a string would end the command or go on with the next. */
const firstBad = (texts: readonly string[]): string | undefined => {
  const bad = texts.find((text) => {
    const plain = withoutStrings(text);
    return /\p{C}/u.test(text) || endsQuoted(text) || /[;#\\]/.test(plain) || !isBalanced(plain);
  });
  return bad === undefined ? undefined : `${JSON.stringify(bad)} is not one expression of nft`;
};

/** An open brace would go on in the next line, which then is blamed. */
const isBalanced = (text: string): boolean => text.split('{').length === text.split('}').length;

const withoutStrings = (text: string): string => text.replace(/"[^"]*"/g, '""');

const notOneElement = ({ key }: Element): string | undefined =>
  /[{},]/.test(withoutStrings(key)) ? `${JSON.stringify(key)} is not one element` : undefined;
