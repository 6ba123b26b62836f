import { synthesize } from '../infra/variants.ts';
import type { Result } from './simulation.ts';
import { MINUTE } from './workloads.ts';
import type { MetricValue } from './world.ts';

/** The metric of an alarm. */
interface Subject {
  Namespace: string;
  MetricName: string;
  Dimensions: { Name: string; Value: unknown }[];
}

type WhereMissing = 'breaching' | 'notBreaching' | 'ignore';

/** The fields of the template that decide when an alarm goes off. */
interface Alarm extends Subject {
  AlarmName: string;
  Statistic: 'Maximum' | 'Sum';
  Threshold: number;
  EvaluationPeriods: number;
  ComparisonOperator: 'GreaterThanOrEqualToThreshold' | 'LessThanThreshold';
  TreatMissingData: WhereMissing | { 'Fn::If': [condition: string, running: WhereMissing, stopped: WhereMissing] };
}

/** The stack of a stage with all functions. */
const stack = synthesize('dev', {
  connections: { main: { mcp: { accounts: 'offered' } } },
  slack: { connection: 'main' },
}).template();
const functions = stack.findResources('AWS::Lambda::Function');
const alarms = Object.values(stack.findResources('AWS::CloudWatch::Alarm')).map(
  ({ Properties }) => Properties as Alarm,
);

/** `overdue-jobs` */
const nameOf = ({ AlarmName }: Alarm) => AlarmName.replace('partner-relay-dev-', '');

/** The names of all alarms of the deployed stack. */
export const everyAlarm: readonly string[] = alarms.map(nameOf);

/**
 * The alarms of the deployed stack that the simulation's metrics set off, in the order of their names. Of AWS's
 * metrics, the simulation has those of the queues, and the failures of the table and the functions.
 */
export function alarmsOf({ metrics }: Pick<Result, 'metrics'>, runsMs: number): string[] {
  const wentOff = alarms.filter((alarm) => {
    const of = about(alarm);
    const own = metrics.filter(
      ({ namespace, name, ...value }) => namespace === alarm.Namespace && name === alarm.MetricName && value.of === of,
    );
    // The simulation does not record this metric.
    if (own.length === 0 && alarm.Namespace.startsWith('AWS/')) return false;
    return goesOff(alarm, own, Math.floor(runsMs / MINUTE));
  });
  return wentOff.map(nameOf).sort();
}

/** The queue, function or operation of a metric, as in the simulation's metrics. */
function about({ Dimensions }: Subject): string | undefined {
  for (const { Name, Value } of Dimensions) {
    if (Name === 'Operation') return String(Value);
    if (Name === 'FunctionName') {
      return functions[(Value as { Ref: string }).Ref]?.Properties.FunctionName.replace('partner-relay-dev-', '');
    }
    if (Name !== 'QueueName') continue;
    const [, lane = '', isDead] = /(Interactive|Background)Queue(DeadLetters)?/.exec(JSON.stringify(Value)) ?? [];
    return `${lane.toLowerCase()}.fifo${isDead ? ' dead letters' : ''}`;
  }
  return undefined;
}

/** Whether enough minutes in a row are beyond the threshold. */
function goesOff(alarm: Alarm, values: readonly MetricValue[], minutes: number): boolean {
  const byMinute = Map.groupBy(values, ({ at }) => Math.floor(at / MINUTE));
  const { TreatMissingData: treated } = alarm;
  // The simulated stage is never stopped.
  const missing = typeof treated === 'string' ? treated : treated['Fn::If'][1];
  let beyond = 0;
  for (let minute = 0; minute < minutes; minute++) {
    const here = byMinute.get(minute)?.map(({ value }) => value);
    if (here) {
      const value = alarm.Statistic === 'Sum' ? here.reduce((sum, one) => sum + one, 0) : Math.max(...here);
      const isAbove = value >= alarm.Threshold;
      beyond = isAbove === (alarm.ComparisonOperator === 'GreaterThanOrEqualToThreshold') ? beyond + 1 : 0;
    } else if (missing === 'breaching') beyond++;
    else if (missing === 'notBreaching') beyond = 0;
    if (beyond >= alarm.EvaluationPeriods) return true;
  }
  return false;
}
