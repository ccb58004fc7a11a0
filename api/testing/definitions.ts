import { parse } from 'yaml';
import type { ObjectInput } from '../../kube/types.ts';
import { crdFiles } from '../crd/crds.ts';

/**
 * The CustomResourceDefinitions of ovn-udn, read once: most tests that need them have a server for each test, and YAML is a third of what
 * that costs.
 */
export const DEFINITIONS: readonly ObjectInput[] = Object.values(crdFiles()).map((text) => parse(text));
