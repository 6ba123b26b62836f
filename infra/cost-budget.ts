import { Stack } from 'aws-cdk-lib';
import { CfnBudget } from 'aws-cdk-lib/aws-budgets';
import { Construct } from 'constructs';
import { type Stage, StageError } from './stage.ts';

/** AWS tells no more addresses of one notification. https://docs.aws.amazon.com/general/latest/gr/billing.html */
const MOST_ADDRESSES = 10;

export interface CostBudgetProps {
  stage: Stage;
  monthlyUsd: number;
  emails: readonly string[];
}

/**
 * What the account may cost in a month. It counts the whole account: AWS knows the costs of a stage only where somebody
 * activated its tags for billing, and without them a budget for the stage would stay at 0 and tell nobody.
 */
export class CostBudget extends Construct {
  /** @throws {StageError} if nobody would be told, or AWS takes fewer addresses */
  constructor(scope: Construct, id: string, { stage, monthlyUsd, emails }: CostBudgetProps) {
    super(scope, id);
    if (emails.length === 0 || emails.length > MOST_ADDRESSES) {
      throw new StageError(
        `deployment.stages.${stage.name}.monthlyBudgetUsd needs 1 to ${MOST_ADDRESSES} addresses in deployment.alarms.emails, found ${emails.length}`,
      );
    }
    const tell = (notificationType: 'ACTUAL' | 'FORECASTED', threshold: number) => ({
      notification: { notificationType, comparisonOperator: 'GREATER_THAN', threshold, thresholdType: 'PERCENTAGE' },
      subscribers: emails.map((address) => ({ subscriptionType: 'EMAIL', address })),
    });
    new CfnBudget(this, 'Budget', {
      budget: {
        // Names are unique in the account, not in the region.
        budgetName: `${Stack.of(this).stackName}-${Stack.of(this).region}`,
        budgetType: 'COST',
        timeUnit: 'MONTHLY',
        budgetLimit: { amount: monthlyUsd, unit: 'USD' },
      },
      notificationsWithSubscribers: [tell('ACTUAL', 80), tell('FORECASTED', 100)],
    });
  }
}
