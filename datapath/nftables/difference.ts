/** The difference between the desired state and what is there, for people. */
import type { Difference } from '../../base/reconciler.ts';
import type { Finding } from './compare.ts';
import { chainHeader, elementText, setHeader } from './desired-form.ts';
import { findingsOf } from './plan.ts';
import type { RuleForms } from './rule-forms.ts';
import { emptyTable, type TableState } from './table-state.ts';
import type { NftItem } from './types.ts';

export const differencesOf = (
  desired: ReadonlyMap<string, NftItem>,
  table: TableState | undefined,
  forms: RuleForms,
): Difference[] => {
  const actual = table ?? emptyTable();
  const findings = [...findingsOf({ desired, actual, keys: 'all', prune: true, forms }).values()];
  return findings
    .map((finding): Difference => {
      const item = desired.get(finding.key);
      return {
        key: finding.key,
        kind: kindOf(finding),
        desired: item && desiredText(item),
        actual: actualText(finding, actual),
      };
    })
    .toSorted((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key)));
};

const kindOf = ({ how }: Finding): Difference['kind'] => (how === 'missing' || how === 'unwanted' ? how : 'different');

const desiredText = (item: NftItem): string => {
  switch (item.kind) {
    case 'chain':
      return lines([...chainHeader(item.chain), ...item.chain.rules]);
    case 'set':
      return lines(setHeader(item.set));
    case 'element':
      return elementText(item.element);
  }
};

const actualText = (finding: Finding, { header, chains, sets }: TableState): string | undefined => {
  if (finding.how === 'missing') return undefined;
  switch (finding.kind) {
    case 'chain': {
      const chain = chains.get(finding.desired?.name ?? finding.key.slice('chain '.length));
      return chain && lines([...chain.header, ...chain.rules]);
    }
    case 'set':
      return lines(sets.get(finding.desired?.name ?? finding.key.slice('set '.length))?.header ?? []);
    case 'element': {
      const state = sets.get(finding.set)?.elements.get(finding.actual);
      return state && elementText({ key: finding.actual, value: state.value, comment: state.comment });
    }
    case 'other':
      return nameOf(finding.object);
    case 'table':
      return lines(header);
  }
};

const nameOf = ({ kind, name }: { kind: string; name: string }): string => `${kind} ${name}`;

const lines = (texts: readonly string[]): string => texts.join('\n');
