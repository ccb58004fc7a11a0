/** A flow that cannot be encoded is not written at all: this fails when a feature renders the first one. */
import { expect, it } from 'vitest';
import { parseFlowLine } from '../../../datapath/openflow/text/flow-dump.ts';
import { encodeSteps } from '../../../datapath/openflow/wire/bundle.ts';
import { nameOf, VARIANTS, workedCluster } from './worked-cluster.ts';

it.each(VARIANTS.map((variant) => [nameOf(variant), variant] as const))('encodes the flows of %s', (_, variant) => {
  const lines = Object.values(workedCluster(variant).render().openflow).flat();
  expect(lines.length).toBeGreaterThan(0);
  for (const line of lines) expect(() => encode(line), line).not.toThrow();
});

const encode = (line: string): Uint8Array => {
  const { identity, cookie, actions } = parseFlowLine(` ${numbered(line)}`);
  return encodeSteps([{ op: 'addFlow', flow: { identity, cookie, actions } }]);
};

/** Ports have numbers on a bridge. */
const numbered = (line: string): string =>
  line.replace(/\bin_port=(?!LOCAL\b)[^, ]+/g, 'in_port=7').replace(/\boutput:(?!NXM_)[^, ]+/g, 'output:7');
