"""Two model pipelines that learn every statistic from the training part alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from course_lib.errors import CourseError

if TYPE_CHECKING:
    import pandas
    from sklearn.pipeline import Pipeline

MODELS: dict[str, str] = {
    "logistic_regression": "logistic regression",
    "boosted_trees": "gradient-boosted trees",
}


def build_pipeline(model: str, features: pandas.DataFrame) -> Pipeline:
    """Return an unfitted scikit-learn pipeline for a table of text and number columns.

    Encoders and scalers are steps of the pipeline, so that fitting it on the training rows is the
    only moment at which any statistic is learnt.

    Parameters
    ----------
    model : {"logistic_regression", "boosted_trees"}
    features : pandas.DataFrame
        Only its column names and types are read. Missing values are allowed.

    Raises
    ------
    CourseError
        For an unknown model or a table without columns.
    """
    from pandas.api.types import is_numeric_dtype
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

    if model not in MODELS:
        raise CourseError("Unknown model", expected=" or ".join(MODELS), found=repr(model))
    if not len(features.columns):
        raise CourseError(
            "A model needs at least one field", found="no column", next_step="choose some fields"
        )
    numbers = [name for name in features.columns if is_numeric_dtype(features[name])]
    texts = [name for name in features.columns if name not in numbers]
    if model == "logistic_regression":
        return make_pipeline(
            make_column_transformer(
                (OneHotEncoder(handle_unknown="ignore"), texts),
                (make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), numbers),
            ),
            LogisticRegression(max_iter=1000),
        )
    return make_pipeline(
        make_column_transformer(
            (OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1), texts),
            remainder="passthrough",
        ),
        HistGradientBoostingClassifier(random_state=0),
    )
