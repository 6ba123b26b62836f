import { Duration } from 'aws-cdk-lib';
import { type IMetric, MathExpression } from 'aws-cdk-lib/aws-cloudwatch';

/**
 * The sum of metrics per minute. A metric without a value in a minute counts as 0; otherwise, there would be no sum.
 */
export function sumOf(metrics: readonly IMetric[]): IMetric {
  const [only, ...others] = metrics;
  if (only && others.length === 0) return only;
  const named = Object.fromEntries(metrics.map((metric, index) => [`m${index}`, metric]));
  const expression = Object.keys(named)
    .map((name) => `FILL(${name}, 0)`)
    .join(' + ');
  return new MathExpression({ expression, usingMetrics: named, period: Duration.minutes(1) });
}
