/** All 48 of Kubernetes: networking is three namespaces with three pods each, which serve two ports over every protocol. */
import type { PolicyCase } from './case.ts';
import { CHANGE_CASES } from './change-cases.ts';
import { EGRESS_CASES } from './egress-cases.ts';
import { INGRESS_CASES } from './ingress-cases.ts';

export const POLICY_CASES: readonly PolicyCase[] = [...INGRESS_CASES, ...EGRESS_CASES, ...CHANGE_CASES];
