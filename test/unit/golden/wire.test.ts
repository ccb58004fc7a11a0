/** A bundle with a flow whose bytes are not known takes a run of ovs-ofctl: it is to be seen when a feature writes the first. */
import { expect, it } from 'vitest';
import { parseFlowLine } from '../../../datapath/openflow/text/flow-dump.ts';
import { encodeSteps } from '../../../datapath/openflow/wire/bundle.ts';
import { nameOf, VARIANTS, workedCluster } from './worked-cluster.ts';

it.each(VARIANTS.map((variant) => [nameOf(variant), variant] as const))('knows the bytes of %s', (_, variant) => {
  const lines = Object.values(workedCluster(variant).render().openflow).flat();
  expect(lines.length).toBeGreaterThan(0);
  expect(lines.filter((line) => !isKnown(line))).toEqual([]);
});

const isKnown = (line: string): boolean => {
  const { identity, cookie, actions } = parseFlowLine(` ${numbered(line)}`);
  return encodeSteps([{ op: 'addFlow', flow: { identity, cookie, actions } }]) !== undefined;
};

/** Ports have numbers on a bridge. */
const numbered = (line: string): string =>
  line.replace(/\bin_port=(?!LOCAL\b)[^, ]+/g, 'in_port=7').replace(/\boutput:(?!NXM_)[^, ]+/g, 'output:7');
